package limits

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestHandlerRefusesBeforeItReads(t *testing.T) {
	for _, test := range []struct {
		name    string
		options Options
		request *http.Request
		code    int
	}{
		{"as large as it may be", Options{Bytes: 10}, post(`{"a":"bcd"`), http.StatusOK},
		{"empty", Options{Bytes: 10}, post(""), http.StatusBadRequest},
		{"too large", Options{Bytes: 10}, post(`{"a":"bcd"}`), http.StatusRequestEntityTooLarge},
		{"as large as the memory permits", Options{}, post("{" + strings.Repeat(" ", 1<<20-32<<10-1)), http.StatusOK},
		{"larger than the memory permits", Options{}, post("{" + strings.Repeat(" ", 1<<20)), http.StatusRequestEntityTooLarge},
		{
			"handled in place, as large as the memory permits",
			Options{InPlace: true},
			post("{" + strings.Repeat(" ", 2<<20-64<<10-1)),
			http.StatusOK,
		},
		{
			"handled in place, larger than the memory permits",
			Options{InPlace: true},
			post("{" + strings.Repeat(" ", 2<<20-64<<10)),
			http.StatusRequestEntityTooLarge,
		},
		{
			"of no length",
			Options{Bytes: 10},
			httptest.NewRequest(http.MethodPost, "/", io.MultiReader(strings.NewReader("{}"))),
			http.StatusLengthRequired,
		},
		{"to be read", Options{Bytes: 10}, httptest.NewRequest(http.MethodGet, "/", nil), http.StatusMethodNotAllowed},
		{"checked", Options{Bytes: 100, Check: noLists}, post(`{"a":"[]"}`[:6]), http.StatusOK},
		{"refused", Options{Bytes: 100, Check: noLists}, post(`{"a":[1,2,3]}`), http.StatusRequestEntityTooLarge},
		{"YAML", Options{Bytes: 100}, post("a: b"), http.StatusBadRequest},
	} {
		t.Run(test.name, func(t *testing.T) {
			limits := New(8 << 20)
			handled := false
			recorder := httptest.NewRecorder()
			limits.Handler(test.options, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				handled = true
				body, err := io.ReadAll(r.Body)
				if err != nil || int64(len(body)) != test.request.ContentLength {
					t.Errorf("read %q, %v", body, err)
				}
				if work, _ := limits.work.unused(); work == 8<<20/8 {
					t.Error("handled without a processor")
				}
				if memory, _ := limits.memory.unused(); memory == 8<<20/4 {
					t.Error("handled without memory")
				}
				_, _ = io.WriteString(w, "done")
			})).ServeHTTP(recorder, test.request)
			if recorder.Code != test.code || handled != (test.code == http.StatusOK) {
				t.Errorf("code %d: %s", recorder.Code, recorder.Body)
			}
			if work, _ := limits.work.unused(); work != 8<<20/8 {
				t.Errorf("of the processors only %d are given back", work)
			}
			if memory, requests := limits.memory.unused(); memory != 8<<20/4 || requests > 0 {
				t.Errorf("of the memory only %d is given back; %d requests have some", memory, requests)
			}
		})
	}
}

func noLists(body []byte) string {
	if strings.Contains(string(body), "[") {
		return "there is a list"
	}
	return ""
}

// A client receives the refusal even while it still writes.
func TestARefusalIsResponded(t *testing.T) {
	refuse := func(start []byte, reason string) []byte {
		if strings.HasPrefix(string(start), `{"uid"`) {
			return []byte(`{"denied":"` + reason + `"}`)
		}
		return nil
	}
	limited := New(64<<20).Handler(Options{Bytes: 1 << 20, Check: noLists, Refuse: refuse}, http.NotFoundHandler())
	server := httptest.NewServer(limited)
	defer server.Close()
	for name, test := range map[string]struct {
		body, want string
		code       int
	}{
		"too large":                {`{"uid":"` + strings.Repeat("x", 16<<20), "at most 1048576 bytes are read", http.StatusOK},
		"checked":                  {`{"uid":[]}`, "there is a list", http.StatusOK},
		"too large, without a uid": {`{` + strings.Repeat("x", 2<<20), "at most 1048576 bytes are read", http.StatusRequestEntityTooLarge},
		"checked, without a uid":   {`{"a":[]}`, "there is a list", http.StatusRequestEntityTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			response, err := http.Post(server.URL, "application/json", strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			content, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != test.code || !strings.Contains(string(content), test.want) {
				t.Errorf("%s, %v: %s", response.Status, err, content)
			}
		})
	}
}

func post(body string) *http.Request {
	return httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
}

// unused returns the memory that no request uses, with garbage, and how many requests use some.
func (b *budget) unused() (int64, int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.free + b.garbage, len(b.used) + len(b.idle)
}

// Handlers that wait for their reads do not delay each other, and need no slot of the handlers that decode.
func TestHandlersThatWaitTakeNoTurn(t *testing.T) {
	const requestCount = 50
	limits := New(256 << 20)
	for name, test := range map[string]struct {
		options Options
		atATime int64
	}{"waits": {Options{Bytes: 1024, Waits: true}, requestCount}, "decodes": {Options{Bytes: 1024}, parts + 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var begun atomic.Int64
				end := make(chan struct{})
				handler := limits.Handler(test.options, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
					begun.Add(1)
					<-end
				}))
				for range requestCount {
					go func() {
						request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("{}"))
						handler.ServeHTTP(httptest.NewRecorder(), request)
					}()
				}
				synctest.Wait()
				if got := begun.Load(); got != test.atATime {
					t.Errorf("%d at a time, want %d", got, test.atATime)
				}
				close(end)
			})
		})
	}
}
