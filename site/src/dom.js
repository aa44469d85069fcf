// Makes elements. Texts of the data become text, never markup.

/** @typedef {Node | string} Child */

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, string | boolean | (() => void)>} properties attributes; on…: listeners; true: without a value
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else if (value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/**
 * The element of the page with that id.
 * @template {HTMLElement} T
 * @param {string} id
 * @returns {T}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no element #${id}`);
  return /** @type {T} */ (found);
}

/**
 * Puts options into a select.
 * @param {HTMLSelectElement} select
 * @param {Iterable<[string, Iterable<[string, string]>]>} groups label and options; label "": no group
 * @param {string} chosen
 */
export function fillSelect(select, groups, chosen) {
  const made = [...groups].map(([label, options]) => {
    const own = [...options].map(([value, title]) => element("option", { value }, title));
    return label ? [element("optgroup", { label }, ...own)] : own;
  });
  select.replaceChildren(...made.flat());
  select.value = chosen;
}

/**
 * A name and a value each.
 * @param {Iterable<Child[]>} pairs those with an empty value are left out
 */
export function definitions(pairs) {
  const parts = [...pairs].filter(([, value]) => value !== "");
  return element(
    "dl",
    {},
    ...parts.flatMap(([name = "", value = ""]) => [element("dt", {}, name), element("dd", {}, value)]),
  );
}
