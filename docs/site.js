// Tables that scroll can be reached and scrolled without a mouse.
document$.subscribe(() => {
  setTimeout(() => {
    for (const part of document.querySelectorAll(".md-typeset__scrollwrap")) part.tabIndex = 0;
  });
});
