package browser

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed" // for axe
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report/console"
	"open-cluster-management.io/interlock/pkg/report/overview"
)

//go:embed axe/axe.min.js.gz
var compressedAxe []byte

// chromium returns the program that the tests drive. It skips the test without one.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("the pages are not tested in a browser, because Chromium is not installed: apt-get install chromium")
	return ""
}

// tab is a tab of a browser.
type tab struct {
	context.Context

	t *testing.T

	mutex sync.Mutex
	// expected is a part of the errors that are no problem. It is empty if all are.
	expected string
	// problems are the errors of the page, its requests to other hosts, and the dialogs that it has opened.
	problems []string
}

// open opens a page with a fleet in a browser of that width, in light or dark.
func open(t *testing.T, address string, width int64, scheme string) *tab {
	t.Helper()
	opened := start(t, address, width, scheme)
	opened.run(chromedp.Navigate(address), chromedp.WaitVisible(chromedp.CSS("#causes")))
	return opened
}

// start starts a browser of that width, in light or dark, for a page at an address. The page must not open a dialog, log an error, or
// request anything of another host.
func start(t *testing.T, address string, width int64, scheme string) *tab {
	t.Helper()
	allocator, stop := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	opened := &tab{Context: ctx, t: t}
	opened.run(chromedp.Navigate("about:blank")) // starts the browser
	host := hostOf(address)
	err := chromedp.Listen(ctx, func(event any) {
		switch event := event.(type) {
		case *page.EventJavascriptDialogOpening:
			opened.addProblem("a dialog: " + event.Message)
		case *runtime.EventExceptionThrown:
			opened.addProblem("an exception: " + event.ExceptionDetails.Text)
		case *cdplog.EventEntryAdded:
			if event.Entry.Level == cdplog.EntryLevelError {
				opened.addProblem("an error: " + event.Entry.Text)
			}
		case *network.EventRequestWillBeSent:
			if hostOf(event.Request.URL) != host {
				opened.addProblem("a request: " + event.Request.URL)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	opened.run(
		command(network.Enable, network.EnableParams{}), command(cdplog.Enable, cdp.Empty{}),
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		}),
		chromedp.EmulateViewport(width, 900),
	)
	t.Cleanup(func() {
		opened.mutex.Lock()
		defer opened.mutex.Unlock()
		for _, problem := range opened.problems {
			if opened.expected == "" || !strings.Contains(problem, opened.expected) {
				t.Error(problem)
			}
		}
	})
	return opened
}

// command returns a command of the protocol as an action.
func command[P, R any](called cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, called, params)
		return err
	})
}

func hostOf(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return err.Error()
	}
	return parsed.Host
}

func (b *tab) addProblem(problem string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.problems = append(b.problems, problem)
}

// limit is the time in which all actions of a step have to end.
const limit = time.Minute

func (b *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	result(b, chromedp.Steps(actions...))
}

// result returns the result of an action.
func result[T any](b *tab, action chromedp.Action[T]) T {
	b.t.Helper()
	ctx := b.Context
	if chromedp.FromContext(ctx).Target != nil { // the first action starts the browser, which would end with its time
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		ctx = limited
	}
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		b.t.Fatal(err)
	}
	return value
}

// value returns the value of an expression on the page.
func value[T any](b *tab, expression string) T {
	b.t.Helper()
	return result(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// waitFor waits until an expression on the page is true.
func (b *tab) waitFor(expression string) {
	b.t.Helper()
	if _, err := chromedp.Run(b, chromedp.Poll[bool]("!!("+expression+")", chromedp.WithPollingTimeout(20*time.Second))); err != nil {
		b.t.Fatalf("%s: %v; the page is %.300s", expression, err, value[string](b, "document.body.innerText"))
	}
}

// checkAccessibility tests the page with axe, and that it is not wider than the window.
func (b *tab) checkAccessibility() {
	b.t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(compressedAxe))
	if err != nil {
		b.t.Fatal(err)
	}
	script, err := io.ReadAll(reader)
	if err != nil {
		b.t.Fatal(err)
	}
	value[bool](b, string(script)+"; true")
	for _, violation := range value[[]string](b, `axe.run(document, {resultTypes: ["violations"]}).then((result) => {
		if (result.passes.length < 10) return ["axe found nothing to test"];
		return result.violations.map((each) => each.id + ": " + each.help + ": " + each.nodes[0].html);
	})`) {
		b.t.Error(violation)
	}
	if widths := value[[]int](b, "[document.documentElement.scrollWidth, innerWidth]"); widths[0] > widths[1] {
		b.t.Errorf("the page has %d pixels, and the window %d", widths[0], widths[1])
	}
}

// picture writes a picture of the page to the folder PICTURES, to look at.
func (b *tab) picture(name string) {
	b.t.Helper()
	folder := os.Getenv("PICTURES")
	if folder == "" {
		return
	}
	picture := result(b, chromedp.FullScreenshot(100))
	if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// eachView calls a function with a view of each width and scheme.
func eachView(t *testing.T, test func(t *testing.T, width int64, scheme string)) {
	t.Helper()
	for _, width := range []int64{1400, 400} {
		for _, scheme := range []string{"light", "dark"} {
			t.Run(fmt.Sprintf("%s-%d", scheme, width), func(t *testing.T) { test(t, width, scheme) })
		}
	}
}

// served is a console behind a server, with the address that a user opens.
type served struct {
	*console.Console

	address string
}

// serve serves a fleet.
func serve(t *testing.T, content snapshot.Content) served {
	t.Helper()
	const token = "the-token"
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	viewed := served{console.New(token, strings.TrimPrefix(server.URL, "http://")), server.URL + "/#token=" + token}
	handler = viewed
	viewed.update(content)
	return viewed
}

// update shows another state of the fleet.
func (s served) update(content snapshot.Content) {
	s.Update(snapshot.New(content), func(*snapshot.Snapshot) overview.Options { return options(content) })
}

func options(content snapshot.Content) overview.Options {
	return overview.Options{
		Hub: "https://hub.example:6443", Now: content.Taken, GroupBy: "cluster.open-cluster-management.io/clusterset",
		Command: func(line string) string { return line }, Note: func(string) string { return "" },
	}
}
