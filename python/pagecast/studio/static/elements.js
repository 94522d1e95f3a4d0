// Makes elements.

/** Makes an element with properties and children; `class`, `for` and names with a dash are attributes. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class" || name === "for" || name.includes("-")) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

/** Gives the element with an id. */
export function byId(id) {
  return document.getElementById(id);
}
