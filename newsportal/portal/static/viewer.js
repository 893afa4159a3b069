/* Shows the pictures of a photo story one by one (PhotoSwipe, loaded on first use). Without JavaScript the links open the pictures. */
(() => {
  "use strict";
  const SECOND = 1000;
  const UNKNOWN = { width: 1200, height: 800 }; // until the picture is loaded
  const options = document.currentScript.dataset;
  const links = [...document.querySelectorAll("[data-picture]")];
  const button = document.querySelector("[data-open-viewer]");
  if (!links.length || !button) return;
  let viewer = null;

  function items() {
    return links.map((link) => {
      const image = link.querySelector("img");
      const figure = link.closest("[data-place]");
      const known = link.dataset.width ? { width: +link.dataset.width, height: +link.dataset.height } : null;
      const loaded = image?.naturalWidth ? { width: image.naturalWidth, height: image.naturalHeight } : null;
      return {
        ...(known ?? loaded ?? UNKNOWN),
        guessed: !known,
        src: link.href,
        msrc: loaded ? image.currentSrc : undefined,
        alt: image?.alt ?? "",
        caption: figure.querySelector("[data-caption]")?.textContent ?? "",
        lang: link.closest("[lang]")?.lang ?? "",
        place: +figure.dataset.place,
        element: link,
      };
    });
  }

  async function open(index) {
    if (viewer) return;
    const { default: PhotoSwipe } = await import(options.library);
    if (viewer) return;
    viewer = new PhotoSwipe({
      dataSource: items(),
      index,
      loop: false,
      wheelToZoom: true,
      bgOpacity: 1,
      padding: { top: 44, bottom: 84, left: 0, right: 0 },
      closeTitle: options.close,
      zoomTitle: options.zoom,
      arrowPrevTitle: options.previous,
      arrowNextTitle: options.next,
      errorMsg: options.loadError,
    });
    viewer.on("uiRegister", () => viewer.ui.registerElement({ name: "caption", appendTo: "root", onInit: addCaption }));
    viewer.on("change", reportView);
    viewer.on("loadComplete", updateSize);
    viewer.on("close", () => links[viewer.currIndex].scrollIntoView({ block: "nearest", behavior: "instant" }));
    viewer.on("destroy", onClosed);
    viewer.init();
    history.pushState({ viewer: true }, ""); // so that the back button of a phone closes the viewer, not the page
  }

  function addCaption(element) {
    const shown = viewer;
    element.setAttribute("aria-live", "polite");
    shown.on("change", () => {
      element.lang = shown.currSlide.data.lang;
      element.textContent = shown.currSlide.data.caption;
    });
  }

  function reportView() {
    const shown = viewer;
    const { index, data } = shown.currSlide;
    setTimeout(() => {
      const visible = viewer === shown && shown.currIndex === index && shown.currSlide.content.state === "loaded";
      if (visible && document.visibilityState === "visible") document.dispatchEvent(new CustomEvent("picture-seen", { detail: data.place }));
    }, SECOND);
  }

  /* Update the layout of a picture of unknown size when it is loaded. */
  function updateSize({ content, isError }) {
    const { data, index, element } = content;
    if (isError || !data.guessed || !element?.naturalWidth) return;
    Object.assign(data, { width: element.naturalWidth, height: element.naturalHeight, guessed: false });
    data.w = data.width;
    data.h = data.height;
    viewer?.refreshSlideContent(index);
  }

  function onClosed() {
    links[viewer.currIndex]?.focus({ preventScroll: true });
    viewer = null;
    if (history.state?.viewer) history.back();
  }

  addEventListener("popstate", () => {
    if (viewer?.opener.isOpen) viewer.close();
    else viewer?.on("openingAnimationEnd", () => viewer?.close()); // close() is ignored while it opens
  });
  button.hidden = false;
  button.addEventListener("click", () => open(0));
  links.forEach((link, index) => link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    open(index);
  }));
})();
