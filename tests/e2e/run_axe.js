async ([options, judged]) => {
  // Answers what axe-core finds wrong, and the looks of the text that it could judge the contrast of. Text of a look in `judged` is spared
  // that: it has the same colours, size and place under the same elements with the same backgrounds.
  if (!globalThis.axe) return null;
  axe.configure({rules: [{id: "color-contrast", selector: ":not([data-judged])"}]});
  const hash = (...parts) => {
    let [high, low] = [0xdeadbeef, 0x41c6ce57];
    for (const char of parts.join("\n")) {
      high = Math.imul(high ^ char.charCodeAt(0), 2654435761);
      low = Math.imul(low ^ char.charCodeAt(0), 1597334677);
    }
    return 2 ** 21 * (high >>> 0) + (low >>> 11);
  };
  const before = new Set(judged), looks = new Map();
  const walk = (node, above) => {
    const {position, backgroundColor, backgroundImage, opacity, filter, color, fontSize, fontWeight, textShadow} = getComputedStyle(node);
    const disabled = (node.control ?? node).disabled || node.ariaDisabled === "true";
    const here = hash(above, node.localName, node.getAttribute("class"), disabled, position, backgroundColor, backgroundImage, opacity, filter);
    const hasText = [...node.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.trim());
    if (hasText && node.checkVisibility({opacityProperty: true, visibilityProperty: true})) {
      const look = hash(here, color, fontSize, fontWeight, textShadow);
      if (!node.toggleAttribute("data-judged", before.has(look))) looks.set(node, look);
    }
    for (const child of node.children) walk(child, here);
  };
  walk(document.body, innerWidth);
  const {violations, incomplete} = await axe.run({...options, elementRef: true});
  for (const rule of incomplete.filter(({id}) => id === "color-contrast")) for (const {element} of rule.nodes) looks.delete(element);
  const wrong = violations.map(({id, nodes}) => [id, nodes.slice(0, 3).map(({html}) => html.slice(0, 160))]);
  return [wrong, [...new Set(looks.values())]];
}
