// Asks the server. The newest question wins: an answer that is older than one already shown is dropped.

const PAGE = crypto.randomUUID();
const PATIENCE_MS = 250;

/** Posts a question and gives the answer. */
export async function post(path, question) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ page: PAGE, ...question }),
  });
  if (!response.ok) throw new Error(`the server refuses (${response.status})`);
  return response.json();
}

/** Tells which state of the files the server sees. */
export async function revision() {
  const response = await fetch("api/revision");
  if (!response.ok) throw new Error(`the server refuses (${response.status})`);
  return (await response.json()).revision;
}

/**
 * Makes a function that asks for forecasts.
 *
 * While a question is under way only the newest next one is kept. It is sent when the answer is there, or as
 * soon as the answer is late: the server then stops the older simulation.
 */
export function makeAsk(question, onAnswer, onBusy, onFailure) {
  let sent = 0;
  let shown = 0;
  let underWay = 0;
  let sentAt = 0;
  let changedAt = 0;
  let isWaiting = false;
  let late = 0;

  async function send() {
    isWaiting = false;
    clearTimeout(late);
    const number = ++sent;
    const began = changedAt;
    sentAt = performance.now();
    underWay += 1;
    onBusy(true);
    try {
      const answer = await post("api/forecast", question());
      if (!answer.superseded && number > shown) {
        shown = number;
        onAnswer(answer, began);
      }
    } catch (error) {
      if (number === sent) onFailure(error);
    } finally {
      underWay -= 1;
      if (underWay === 0) onBusy(false);
      if (isWaiting) send();
    }
  }

  return function ask() {
    changedAt = performance.now();
    if (underWay === 0) {
      send();
    } else if (!isWaiting) {
      isWaiting = true;
      late = setTimeout(() => isWaiting && send(), Math.max(0, PATIENCE_MS - (performance.now() - sentAt)));
    }
  };
}
