// Elements, made and changed without markup: all text that comes from a cluster
// is set as text, so that a name is never more than a name.

const SVG = "http://www.w3.org/2000/svg";

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) attribute(made, name, value);
  for (const child of children) made.append(child);
  return made;
}

/** An element; children are elements or texts. */
export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An element of a drawing. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

export function byId(id) {
  return document.getElementById(id);
}

/** Nothing is touched that is as it should be, for screen readers and
 * selections. Null takes an attribute away. */
export function attribute(of, name, value) {
  if (value === null || value === undefined) {
    if (of.hasAttribute(name)) of.removeAttribute(name);
  } else if (of.getAttribute(name) !== String(value)) {
    of.setAttribute(name, String(value));
  }
}

export function text(of, value) {
  const wanted = String(value);
  if (of.textContent !== wanted) of.textContent = wanted;
}

/** Has the browser save what it knows as a file. */
export function saveAs(name, content, type) {
  const link = el("a", { download: name,
    href: URL.createObjectURL(new Blob([content], { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Tells when elements come into sight and leave it, so that what nobody sees is
 * not drawn: the page may be open where a run computes.
 * @param onCome Called when any comes. @return {watch(element), sees(element)} */
export function sight(onCome) {
  const seen = new WeakSet();
  const observer = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes)
      if (isIntersecting) seen.add(target);
      else seen.delete(target);
    if (changes.some(({ isIntersecting }) => isIntersecting)) onCome();
  }, { rootMargin: "200px" });
  return { watch: (element) => observer.observe(element), sees: (element) => seen.has(element) };
}

/** Makes the children of an element those of a list, in its order. Who stays
 * is kept, with the focus: children are known by their keys. Several may have the
 * same one, as lines do that say the same: each is kept for one item.
 * @param make (item) => element  @param update (element, item) */
export function keyed(parent, items, keyOf, make, update = () => {}) {
  const known = new Map(); // Of each key, the children that no item has yet.
  for (const child of parent.children) {
    const alike = known.get(child.graphmillKey);
    if (alike) alike.push(child);
    else known.set(child.graphmillKey, [child]);
  }
  let place = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    let child = known.get(key)?.shift();
    if (!child) {
      child = make(item);
      child.graphmillKey = key;
    }
    if (child === place) place = place.nextElementSibling;
    else parent.insertBefore(child, place);
    update(child, item);
  }
  for (const alike of known.values()) for (const child of alike) child.remove();
}
