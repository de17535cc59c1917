package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"open-cluster-management.io/interlock/test/mixedfleet"
)

// isAtTop is true if the list of managed clusters has the focus, and is at the top of the window.
const isAtTop = `document.activeElement.id === "clusters" && ` +
	`Math.abs(document.getElementById("clusters").getBoundingClientRect().top) < 60`

// TestNumbersListClusters tests that the numbers of the matrix and of the first lines lead to the list, which says what it is limited to.
func TestNumbersListClusters(t *testing.T) {
	b := open(t, serve(t, mixedfleet.Content(1000)).address, 1400, "light")
	const number = ".matrix tbody tr:first-child td:nth-child(4) button"
	b.run(chromedp.Click(chromedp.CSS(number)))
	b.waitFor(isAtTop)
	b.waitFor(`document.querySelector("` + number + `").getAttribute("aria-pressed") === "true"`)
	b.waitFor(`document.querySelectorAll(".matrix [aria-pressed=true]").length === 1`)
	b.waitFor(`document.querySelector("svg .node[aria-pressed=true] title")?.textContent === "multicluster-kueue-manager"`)
	b.waitFor(`document.querySelector(".found").innerText.includes("Filters: production-eu, multicluster-kueue-manager, Dependency fails")`)
	b.run(chromedp.Click(chromedp.CSS(".states li:nth-child(2) button")))
	b.waitFor(isAtTop)
	b.waitFor(rows + ` === "127 of 1000 managed clusters" && location.search === "?state=Down"`)
	b.run(chromedp.SetValue(chromedp.CSS(".filters label:nth-child(4) select"), "fails"))
	value[bool](b, `document.querySelector(".filters label:nth-child(4) select").dispatchEvent(new Event("change", {bubbles: true}))`)
	b.waitFor(rows + ` === "145 of 1000 managed clusters"`)
	b.checkAccessibility()
}

// TestHiddenClusterIsNamed tests that a search which other filters leave without a result says so, and that all filters can be cleared.
func TestHiddenClusterIsNamed(t *testing.T) {
	b := open(t, serve(t, mixedfleet.Content(1000)).address, 1400, "light")
	b.run(chromedp.Click(chromedp.CSS(".states li:nth-child(3) button")),
		chromedp.SendKeys(chromedp.CSS(".filters input[type=search]"), "cluster0360"))
	b.waitFor(rows + ` === "0 of 1000 managed clusters: cluster0360 exists, but other filters hide it"`)
	b.checkAccessibility()
	b.run(chromedp.Click(chromedp.CSS(".found button")))
	b.waitFor(rows + ` === "1 of 1000 managed clusters" && document.querySelector(".grid .row").innerText.includes("cluster0360")`)
	b.run(chromedp.Click(chromedp.CSS(".grid .row .name")))
	b.waitFor(`document.getElementById("cluster").textContent === "Managed cluster cluster0360"`)
	b.waitFor(`document.getElementById("graph").textContent === "Dependencies on cluster0360"`)
	b.run(chromedp.SendKeys(chromedp.CSS(".filters input[type=search]"), "-"))
	b.waitFor(`document.body.innerText.includes("The filters of the list above hide cluster0360.")`)
	value[bool](b, `[...document.querySelectorAll(".filters button")].find((each) => each.innerText === "Clear").click(), true`)
	b.waitFor(rows + ` === "1000 managed clusters" && document.getElementById("graph").textContent === "Dependencies" && ` +
		`location.search === ""`)
	b.waitFor(`document.getElementById("cluster").textContent === "Details of a managed cluster"`)
}

// TestCellOpensItsAddOn tests that a cell opens the details of its managed cluster at its add-on, with the mouse and with keys.
func TestCellOpensItsAddOn(t *testing.T) {
	b := open(t, serve(t, mixedfleet.Content(1000)).address, 1400, "light")
	const isMarked = `document.activeElement.matches(".marked[aria-current]") && document.activeElement.querySelector("th").innerText === `
	const isVisible = `document.activeElement.getBoundingClientRect().top > 0 && ` +
		`document.activeElement.getBoundingClientRect().bottom < innerHeight`
	b.run(chromedp.Click(chromedp.CSS(".grid .row .cell:nth-child(5)")))
	b.waitFor(isMarked + `"config-policy-controller" && ` + isVisible)
	b.waitFor(`document.querySelector(".grid .row.open .name").innerText === document.getElementById("cluster").innerText.split(" ").pop()`)
	b.waitFor(`document.querySelector(".grid .row.open .cell.marked").title.startsWith("config-policy-controller on ")`)
	b.run(chromedp.Focus(chromedp.CSS(".grid")), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.End), chromedp.KeyEvent(kb.Enter))
	b.waitFor(isMarked + `"work-manager" && ` + isVisible)
	b.checkAccessibility()
}

// TestUnreachableClustersHaveACard tests the card about managed clusters that cannot be reached, and the node of an add-on that is missing.
func TestUnreachableClustersHaveACard(t *testing.T) {
	b := open(t, serve(t, mixedfleet.Content(60)).address, 1400, "light")
	b.waitFor(`document.getElementById("unreachable").textContent === "2 managed clusters cannot be reached"`)
	const card = `document.getElementById("unreachable").closest("li")`
	b.waitFor(card + `.innerText.includes("kubectl describe managedcluster cluster0011")`)
	b.waitFor(card + `.innerText.includes("clusterset=production-us: 2 of the 2, and 10 of the 57 other clusters")`)
	value[bool](b, card+`.querySelector("details").open = true`)
	b.waitFor(`[...` + card + `.querySelectorAll("button")].some((each) => each.innerText === "Copy the names")`)
	b.waitFor(`[...document.querySelectorAll("svg .node")].some((node) =>
		node.querySelector("title").textContent === "governance-policy-framework" && node.querySelector(".box.failing") &&
		node.textContent.includes("needed, and not installed on 2"))`)
	b.checkAccessibility()
}

// TestLostClusterIsExplained tests the details of a managed cluster that cannot be reached.
func TestLostClusterIsExplained(t *testing.T) {
	address, token, _ := strings.Cut(serve(t, mixedfleet.Content(60)).address, "#")
	b := open(t, address+"?cluster=cluster0011#"+token, 400, "dark")
	b.waitFor(`document.querySelector("#cluster ~ .notice")?.innerText.` +
		`startsWith("The hub has not heard from cluster0011 since 2026-08-01 10:00:00 UTC.")`)
	b.waitFor(`document.querySelector("#cluster ~ .command").innerText.includes("kubectl describe managedcluster cluster0011")`)
	b.waitFor(`document.querySelectorAll(".cluster tbody code").length === 0`)
	b.checkAccessibility()
}

// TestPictureFilters tests that the picture fits the window, and that its add-ons are buttons.
func TestPictureFilters(t *testing.T) {
	b := open(t, serve(t, mixedfleet.Content(1000)).address, 1400, "light")
	b.waitFor(`document.querySelector("svg .node[role=button]")`)
	const place = `document.querySelector("svg").parentElement`
	if widths := value[[]int](b, "["+place+".scrollWidth, "+place+".clientWidth]"); widths[0] > widths[1] {
		t.Errorf("the picture has %d pixels, and its place %d", widths[0], widths[1])
	}
	b.run(chromedp.Focus(chromedp.CSS(`svg .node[aria-label*="config-policy-controller"]`)), chromedp.KeyEvent(kb.Enter))
	b.waitFor(`location.search === "?addon=config-policy-controller" && ` +
		`document.getElementById("graph").textContent === "Dependencies around config-policy-controller"`)
	b.waitFor(`document.querySelector("svg .node[aria-pressed=true] title")?.textContent === "config-policy-controller"`)
	b.waitFor(`document.querySelector("svg .node[aria-pressed=true]")?.textContent.includes("21 of 1000 fail")`)
	b.checkAccessibility()
}

// TestCommandIsCopied tests the button that copies a command.
func TestCommandIsCopied(t *testing.T) {
	b := open(t, serve(t, mixedfleet.Content(30)).address, 1400, "light")
	value[bool](b, `navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }, true`)
	b.run(chromedp.Click(chromedp.CSS(".causes .copy")))
	b.waitFor(`window.copied === document.querySelector(".causes code").textContent && ` +
		`document.querySelector(".causes .command span").innerText === "copied"`)
	value[bool](b, `[...document.querySelectorAll(".filters .copy")].pop().click(), true`)
	b.waitFor(`window.copied === location.origin + "/"`)
}
