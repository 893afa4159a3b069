/* Announces htmx updates of the desk's pages to screen readers, and pauses polling while the user is reading. */
(() => {
  "use strict";
  const status = document.querySelector("#status");
  const connectionError = document.querySelector("#connection-error");
  if (!status || !connectionError) return;

  /* Browsers without ::details-content: the menu is open beside the page, and closed above it. */
  const menu = document.querySelector(".desk-menu");
  if (!CSS.supports("selector(::details-content)")) menu.open = matchMedia("(min-width: 52.01rem)").matches;

  /* Do not refresh a log that has the focus. */
  document.addEventListener("htmx:beforeRequest", (event) => {
    const { elt, target, requestConfig } = event.detail;
    if (requestConfig?.verb === "get" && elt.querySelector(".log:focus")) event.preventDefault();
    else if (requestConfig?.verb === "post") target?.setAttribute("aria-busy", "true");
  });

  /* Announce the sentence of the swapped element if it has changed. */
  document.addEventListener("htmx:afterSettle", ({ detail: { elt } }) => {
    const sentence = elt.closest?.("[data-status]")?.dataset.status;
    if (sentence && status.textContent !== sentence) status.textContent = sentence;
  });

  document.addEventListener("htmx:afterRequest", ({ detail: { target, xhr } }) => {
    target?.removeAttribute("aria-busy");
    connectionError.hidden = xhr.status > 0 && xhr.status < 500;
  });
})();
