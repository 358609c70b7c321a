// Tables that scroll can be reached and scrolled without a mouse, and the search has a name.
document$.subscribe(() => {
  setTimeout(() => {
    for (const part of document.querySelectorAll(".md-typeset__scrollwrap")) part.tabIndex = 0;
    document.querySelector(".md-search").ariaLabel = "Search";
  });
});
