"use strict";
(() => {
  const find = (name) => document.getElementById(name);
  const { groups, measures } = JSON.parse(find("numbers").textContent);
  const [measure, one, two] = ["measure", "one", "two"].map(find);
  const fill = (list, names) => names.forEach((name, i) => list.add(new Option(name, i)));
  fill(measure, measures.map((each) => each.name));
  fill(one, groups);
  fill(two, groups);
  two.selectedIndex = 1;
  const show = () => {
    const m = measures[measure.value], i = one.value, j = two.value, power = 10 ** m.decimals;
    const text = (x, round) => (round(x * m.scale * power) / power).toLocaleString("en-US", {
      minimumFractionDigits: Math.max(0, m.decimals), maximumFractionDigits: Math.max(0, m.decimals),
    });
    const value = m.values[i] - m.values[j];
    let low, high;
    if (m.centers) {
      const drawn = m.centers[i] - m.centers[j];
      [low, high] = [drawn - m.reach, drawn + m.reach];
    } else {
      [low, high] = [m.lows[i] - m.highs[j], m.highs[i] - m.lows[j]];
    }
    [low, high] = [Math.min(low, value), Math.max(high, value)];
    const certain = low > 0 ? "The first is larger." : high < 0 ? "The first is smaller."
      : "Which one is larger is not certain.";
    find("difference").textContent = i === j ? "Choose two different groups."
      : `Difference ${text(value, Math.round)}${m.unit === "%" ? "" : " "}${m.unit} (${text(low, Math.floor)} to `
        + `${text(high, Math.ceil)}), with at least ${+m.confidence.toFixed(4)}% probability. ${certain}`;
  };
  [measure, one, two].forEach((list) => list.addEventListener("change", show));
  find("picker").hidden = false;
  show();
})();
