// Building and patching nodes. Text goes in as text, never as markup: names come from whoever connects.

// el('td', { class: 'name', title: name }, name, other): strings become text nodes.
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// Writes only what changed, so that nothing is laid out or read aloud anew without need.
export function setText(node, text) {
  const wanted = String(text);
  if (node.textContent !== wanted) node.textContent = wanted;
}

export function setAttribute(node, name, value) {
  if (value === null || value === undefined || value === false) {
    if (node.hasAttribute(name)) node.removeAttribute(name);
  } else if (node.getAttribute(name) !== String(value)) {
    node.setAttribute(name, value);
  }
}

export const setClass = (node, name, on) => {
  if (node.classList.contains(name) !== Boolean(on)) node.classList.toggle(name, Boolean(on));
};

// Makes the children of `parent` those of `items`, in their order: known ones (by key) are kept, updated and moved.
export function keyed(parent, items, keyOf, create, update) {
  const known = parent.keyedNodes ?? (parent.keyedNodes = new Map());
  const wanted = new Set();
  let place = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    wanted.add(key);
    let node = known.get(key);
    if (!node) {
      node = create(item);
      known.set(key, node);
    }
    update(node, item);
    if (node === place) place = place.nextElementSibling;
    else parent.insertBefore(node, place);
  }
  for (const [key, node] of known) {
    if (wanted.has(key)) continue;
    known.delete(key);
    node.remove();
  }
}

// A table whose columns are [{ title, cell(item) -> string, class, numeric }] and whose rows are keyed.
export class Table {
  constructor(table, columns) {
    this.table = table;
    this.setColumns(columns);
  }

  setColumns(columns) {
    this.columns = columns;
    const head = el('tr', {}, ...columns.map((c) => el('th', { scope: 'col', class: c.class, title: c.help }, c.title)));
    this.body = el('tbody');
    this.table.querySelectorAll('thead, tbody').forEach((old) => old.remove());
    this.table.append(el('thead', {}, head), this.body);
  }

  show(items, keyOf) {
    keyed(this.body, items, keyOf, () => this.row(), (row, item) => this.update(row, item));
  }

  row() {
    const cells = this.columns.map((c, i) =>
      i === 0 ? el('th', { scope: 'row', class: c.class }) : el('td', { class: c.class }),
    );
    return el('tr', {}, ...cells);
  }

  update(row, item) {
    this.columns.forEach((column, i) => {
      const cell = row.children[i];
      if (column.show) column.show(cell, item);
      else setText(cell, column.cell(item));
    });
  }
}
