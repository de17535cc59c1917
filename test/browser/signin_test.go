package browser

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report/console"
	"open-cluster-management.io/interlock/pkg/report/overview"
	"open-cluster-management.io/interlock/test/mixedfleet"
)

// hubViewers admit viewers with a token of a hub. The token "reader" has rights until they are withdrawn.
type hubViewers struct {
	view      *console.View
	withdrawn atomic.Bool
}

// Admit implements console.Viewers.
func (v *hubViewers) Admit(r *http.Request) (console.Admission, error) {
	switch token := r.Header.Get("Authorization"); {
	case token == "Bearer reader" && v.withdrawn.Load(), token == "Bearer nobody":
		return console.Admission{}, &console.Refusal{Status: http.StatusForbidden, Text: "you need the right to list clustermanagementaddons"}
	case token == "Bearer reader":
		return console.Admission{View: v.view}, nil
	default:
		return console.Admission{}, &console.Refusal{
			Status: http.StatusUnauthorized, Text: "the API server of the hub does not accept this token", Challenge: `Bearer realm="hub"`,
		}
	}
}

// serveHub serves a fleet to viewers with a token of its hub.
func serveHub(t *testing.T, content snapshot.Content) (string, *hubViewers) {
	t.Helper()
	fleet := console.NewFleet()
	fleet.Update(snapshot.New(content), func(*snapshot.Snapshot) overview.Options { return options(content) })
	viewers := &hubViewers{view: console.NewView(fleet, nil)}
	handler := console.NewHandler(viewers, func(string) bool { return true })
	handler.Review = 100 * time.Millisecond
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL + "/", viewers
}

// signIn enters a token in the form.
func (b *tab) signIn(token string) {
	b.t.Helper()
	b.run(chromedp.WaitVisible(chromedp.CSS("#token")))
	b.waitFor(`document.activeElement.id === "token"`)
	b.run(chromedp.SendKeys(chromedp.CSS("#token"), token), chromedp.KeyEvent(kb.Enter))
}

func TestSignIn(t *testing.T) {
	chromium(t)
	address, _ := serveHub(t, mixedfleet.Content(30))
	eachView(t, func(t *testing.T, width int64, scheme string) {
		b := start(t, address, width, scheme)
		b.expected = "40" // 401 and 403 are errors for the browser
		b.run(chromedp.Navigate(address), chromedp.WaitVisible(chromedp.CSS("#token")))
		if problem := value[bool](b, `!!document.querySelector("[role=alert]")`); problem {
			t.Error("the form has a problem before the first try")
		}
		b.checkAccessibility()
		b.picture("signin-" + filepath.Base(t.Name()))
		b.signIn("wrong")
		b.waitFor(`document.querySelector("[role=alert]")?.textContent === "the API server of the hub does not accept this token"`)
		b.checkAccessibility()
		b.signIn("reader")
		b.run(chromedp.WaitVisible(chromedp.CSS("#causes")))
		b.checkAccessibility()
	})
}

// TestSignOutForgets tests that neither the page nor its storage keeps a token or data, also after a reload.
func TestSignOutForgets(t *testing.T) {
	address, viewers := serveHub(t, mixedfleet.Content(30))
	b := start(t, address, 1400, "light")
	b.expected = "40"
	b.run(chromedp.Navigate(address))
	b.signIn("reader")
	b.run(chromedp.WaitVisible(chromedp.CSS("#causes")), chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS("#causes")))
	if location := value[string](b, "location.href"); strings.Contains(location, "reader") {
		t.Errorf("the address has the token: %s", location)
	}
	b.run(chromedp.Click(chromedp.CSS(".signout button")), chromedp.WaitVisible(chromedp.CSS("#token")))
	kept := value[string](b, `JSON.stringify({...sessionStorage, ...localStorage}) + document.cookie + document.body.textContent`)
	if strings.Contains(kept, "reader") || strings.Contains(kept, "cluster00") {
		t.Errorf("the page keeps %s", kept)
	}
	b.signIn("nobody")
	b.waitFor(`document.querySelector("[role=status]")?.textContent === "you need the right to list clustermanagementaddons"`)
	b.checkAccessibility()
	b.run(chromedp.Click(chromedp.CSS(".signout button")))
	b.signIn("reader")
	b.run(chromedp.WaitVisible(chromedp.CSS("#causes")))
	viewers.withdrawn.Store(true)
	b.waitFor(`!document.body.textContent.includes("cluster00") && document.body.textContent.includes("you need the right")`)
}
