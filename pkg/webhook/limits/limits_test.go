package limits

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHandlerRefusesBeforeItReads(t *testing.T) {
	for _, test := range []struct {
		name    string
		of      Of
		request *http.Request
		code    int
	}{
		{"as large as it may be", Of{Bytes: 10}, post(`{"a":"bcd"}`[:10]), http.StatusOK},
		{"empty", Of{Bytes: 10}, post(""), http.StatusOK},
		{"too large", Of{Bytes: 10}, post(`{"a":"bcd"}`), http.StatusRequestEntityTooLarge},
		{"as large as the memory permits", Of{}, post(strings.Repeat(" ", 1<<20-32<<10)), http.StatusOK},
		{"larger than the memory permits", Of{}, post(strings.Repeat(" ", 1<<20)), http.StatusRequestEntityTooLarge},
		{
			"of no length",
			Of{Bytes: 10},
			httptest.NewRequest(http.MethodPost, "/", io.MultiReader(strings.NewReader("{}"))),
			http.StatusLengthRequired,
		},
		{"to be read", Of{Bytes: 10}, httptest.NewRequest(http.MethodGet, "/", nil), http.StatusMethodNotAllowed},
		{"as many values as there may be", Of{Bytes: 100, Values: 3}, post(`{"a":[1,2]}`), http.StatusOK},
		{"too many values", Of{Bytes: 100, Values: 3}, post(`{"a":[1,2,3]}`), http.StatusRequestEntityTooLarge},
		{"too many values in a string", Of{Bytes: 100, Values: 3}, post(`{"a":"b:\n- 1\n- 2\n"}`), http.StatusRequestEntityTooLarge},
		{"YAML", Of{Bytes: 100, Values: 3}, post("a: b"), http.StatusBadRequest},
	} {
		t.Run(test.name, func(t *testing.T) {
			limits := New(4 << 20)
			handled := false
			recorder := httptest.NewRecorder()
			limits.Handler(test.of, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				handled = true
				body, err := io.ReadAll(r.Body)
				if err != nil || int64(len(body)) != test.request.ContentLength {
					t.Errorf("read %q, %v", body, err)
				}
				if work, _ := limits.work.left(); work == 4<<20/8 {
					t.Error("handled without a processor")
				}
				if memory, _ := limits.memory.left(); memory == 4<<20/2 {
					t.Error("handled without memory")
				}
				_, _ = io.WriteString(w, "done")
			})).ServeHTTP(recorder, test.request)
			if recorder.Code != test.code || handled != (test.code == http.StatusOK) {
				t.Errorf("code %d: %s", recorder.Code, recorder.Body)
			}
			if work, _ := limits.work.left(); work != 4<<20/8 {
				t.Errorf("of the processors only %d are given back", work)
			}
			if memory, requests := limits.memory.left(); memory != 4<<20/2 || requests > 0 {
				t.Errorf("of the memory only %d is given back; %d requests have some", memory, requests)
			}
		})
	}
}

func post(body string) *http.Request {
	return httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
}

// left returns what no request has, garbage included, and how many requests have some.
func (b *budget) left() (size int64, requests int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.free + b.garbage, len(b.held) + len(b.idle)
}
