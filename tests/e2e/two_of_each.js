() => {
  // Removes rows that have the elements, classes and states of two rows before them, of which axe-core would say the same, and unfolds
  // the rest.
  const said = ({name, value}) => /^[a-z -]*$/.test(value) ? name + "=" + value : name;
  const shape = (node) => [node.tagName, ...[...node.attributes].map(said), "(", ...[...node.children].map(shape), ")"].join(" ");
  const seen = new Map();
  for (const row of document.querySelectorAll(":is(li, tr, option, article, main details)")) {
    const of = seen.get(row.parentNode) ?? seen.set(row.parentNode, {}).get(row.parentNode), name = shape(row);
    if ((of[name] = (of[name] ?? 0) + 1) > 2) row.remove();
  }
  document.querySelectorAll("main details").forEach((one) => { one.removeAttribute("name"); one.open = true; });
}
