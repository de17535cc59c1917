package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report/overview"
	"open-cluster-management.io/interlock/pkg/report/page"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/mixedfleet"
)

// written writes the page for a ticket, and returns its address.
func written(t *testing.T, content snapshot.Content) string {
	t.Helper()
	var out strings.Builder
	if err := page.Write(&out, overview.Find(snapshot.New(content), options(content))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "fleet.html")
	if err := os.WriteFile(path, []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

func TestPageForTicket(t *testing.T) {
	chromium(t)
	address := written(t, mixedfleet.Content(300))
	eachView(t, func(t *testing.T, width int64, scheme string) {
		b := open(t, address, width, scheme)
		value[bool](b, `document.querySelectorAll("details").forEach((each, i) => { each.open = i < 40; }), true`)
		b.checkAccessibility()
		b.picture("ticket-" + filepath.Base(t.Name()))
		if color := value[string](b, "getComputedStyle(document.body).backgroundColor"); (color == "rgb(255, 255, 255)") != (scheme == "light") {
			t.Errorf("in %s, the page is %s", scheme, color)
		}
	})
}

// TestLinkOpensCluster tests that a link to a managed cluster opens its details, without a script.
func TestLinkOpensCluster(t *testing.T) {
	b := open(t, written(t, mixedfleet.Content(60)), 1400, "light")
	b.run(
		chromedp.Click(chromedp.CSS(".causes summary")),
		chromedp.Click(chromedp.CSS(`.causes li:first-child .on a`)),
		chromedp.WaitVisible(chromedp.CSS("#c1 table")),
	)
}

func TestHostileNamesAreText(t *testing.T) {
	chromium(t)
	content := mixedfleet.HostileContent()
	for name, address := range map[string]string{"ticket": written(t, content), "console": serve(t, content).address} {
		t.Run(name, func(t *testing.T) {
			b := open(t, address, 1400, "dark")
			b.waitFor(`document.querySelector("svg .box")`)
			title := value[string](b, `document.querySelector("#causes ~ ol h3").textContent`)
			if !strings.Contains(title, "<script>alert(1)</script><img") {
				t.Errorf("the root cause is %q", title)
			}
			if count := value[int](b, `document.querySelectorAll("img, iframe, object, body script").length`); count > 0 {
				t.Errorf("%d elements come from names", count)
			}
			b.checkAccessibility()
			b.picture("hostile-" + name)
		})
	}
}

const rows = `document.querySelector("[role=status]").textContent`

func TestConsole(t *testing.T) {
	chromium(t)
	viewed := serve(t, mixedfleet.Content(1000))
	eachView(t, func(t *testing.T, width int64, scheme string) {
		b := open(t, viewed.address, width, scheme)
		b.run(chromedp.Click(chromedp.CSS(".grid .row .name")), chromedp.WaitVisible(chromedp.CSS(".cluster table")))
		b.waitFor(`document.querySelector("svg .box")`)
		b.checkAccessibility()
		b.picture("console-" + filepath.Base(t.Name()))
	})
}

// TestViewIsInAddress tests that filters are in the address, and the token is not.
func TestViewIsInAddress(t *testing.T) {
	b := open(t, serve(t, mixedfleet.Content(1000)).address, 1400, "light")
	b.run(chromedp.Click(chromedp.CSS(".matrix tbody tr:first-child td:nth-child(4) button"))) // production-eu
	b.waitFor(rows + ` === "100 of 1000 managed clusters"`)
	b.run(chromedp.SendKeys(chromedp.CSS(".filters input[type=search]"), "cluster00"))
	b.waitFor(rows + ` === "10 of 1000 managed clusters"`)
	address := value[string](b, "location.href")
	if !strings.HasSuffix(address, "/?q=cluster00&group=production-eu&state=Failing&addon=multicluster-kueue-manager") {
		t.Errorf("the address is %s", address)
	}
	b.run(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS("#causes")))
	b.waitFor(rows + ` === "10 of 1000 managed clusters"`)
}

// TestGridHasKeys tests the keys of the grid. Few of its rows are on the page.
func TestGridHasKeys(t *testing.T) {
	b := open(t, serve(t, mixedfleet.Content(1000)).address, 1400, "light")
	b.run(chromedp.Focus(chromedp.CSS(".grid")))
	for _, step := range []struct{ key, want string }{
		{kb.ArrowDown, "cluster0900"},
		{kb.ArrowRight, "application-portal on cluster0900: Dependency fails"},
		{kb.End, "work-manager on cluster0900: Works"},
		{kb.ArrowUp, "work-manager on cluster0430: Works"},
		{kb.Home, "cluster0430"},
	} {
		b.run(chromedp.KeyEvent(step.key))
		b.waitFor(`(document.activeElement.title || document.activeElement.textContent) === "` + step.want + `"`)
	}
	b.run(chromedp.KeyEvent(kb.PageDown), chromedp.KeyEvent(kb.PageDown))
	b.waitFor(`/^cluster02.0$/.test(document.activeElement.textContent)`) // some twenty rows below
	b.run(chromedp.KeyEvent(kb.End, chromedp.KeyModifiers(chromedp.ModifierCtrl)), chromedp.KeyEvent(kb.Home))
	b.waitFor(`document.activeElement.textContent === "cluster0999"`)
	if count := value[int](b, `document.querySelectorAll(".grid .row").length`); count > 60 {
		t.Errorf("%d rows are on the page", count)
	}
	b.run(chromedp.KeyEvent(kb.Enter))
	b.waitFor(`document.activeElement.id === "cluster" && document.activeElement.textContent === "Managed cluster cluster0999"`)
}

// TestChangesAreShown tests that changes, and troubles with the hub, are on the page at once, and in its history.
func TestChangesAreShown(t *testing.T) {
	content := mixedfleet.Content(30)
	viewed := serve(t, content)
	b := open(t, viewed.address, 1400, "light")
	b.waitFor(`document.querySelectorAll("ol.causes > li").length === 2`)
	for i := range content.AddOns {
		if content.AddOns[i].Name == "managed-serviceaccount" {
			content.AddOns[i].Status.Conditions = []metav1.Condition{*fixture.Available(metav1.ConditionTrue, "Running")}
		}
	}
	viewed.update(content)
	b.waitFor(`document.querySelectorAll("ol.causes > li").length === 1`)
	b.waitFor(`document.querySelector("#history ~ ul").textContent.includes("Repaired: managed-serviceaccount is not available")`)
	viewed.SetTrouble("connection refused")
	b.waitFor(`document.querySelector(".notices").textContent.includes("This data is old. The hub cannot be watched: connection refused")`)
	viewed.update(content)
	b.waitFor(`!document.querySelector(".notices").textContent.includes("This data is old")`)
}

// TestWhatIf tests that the result of a trial has its sentence first, and is marked when another add-on is chosen.
func TestWhatIf(t *testing.T) {
	const result = `document.querySelector("#whatif ~ div").innerText`
	b := open(t, serve(t, mixedfleet.Content(60)).address, 1400, "light")
	choose := func(addOn string) {
		b.run(chromedp.SetValue(chromedp.CSS("select[name=addon]"), addOn))
		value[bool](b, `document.querySelector("select[name=addon]").dispatchEvent(new Event("change", {bubbles: true}))`)
	}
	choose("cluster-proxy")
	b.run(chromedp.Click(chromedp.CSS("#whatif ~ form button")))
	b.waitFor(result + `.startsWith("Without cluster-proxy: No add-on stops working; an Optional dependency fails on 57 managed clusters.")`)
	choose("managed-serviceaccount")
	b.waitFor(result + `.startsWith("The choice has changed")`)
	b.run(chromedp.Click(chromedp.CSS("#whatif ~ form button")))
	b.waitFor(result + `.includes("The dependency fails already, or another one does") && ` +
		`!` + result + `.includes("The choice has changed") && ` +
		`` + result + `.includes("3 add-ons stop working on 52 managed clusters")`)
	b.run(chromedp.SendKeys(chromedp.CSS("input[name=version]"), "2.0.0"), chromedp.Click(chromedp.CSS("#whatif ~ form button")))
	b.waitFor(result + `.includes("not known on 60 managed clusters") && ` +
		`` + result + `.includes("No dependency has a requirement on its version, so none changes.")`)
	b.checkAccessibility()
}

// TestWrongTokenIsExplained tests the page without the token, such as from a bookmark.
func TestWrongTokenIsExplained(t *testing.T) {
	address, _, _ := strings.Cut(serve(t, mixedfleet.Content(3)).address, "#")
	b := start(t, address, 400, "light")
	b.expected = "401"
	b.run(chromedp.Navigate(address))
	b.waitFor(`document.body.innerText.includes("the token is missing or wrong: open the address that the program has printed")`)
	if strings.Contains(value[string](b, "document.body.innerText"), "cluster0") {
		t.Error("the page has data")
	}
}
