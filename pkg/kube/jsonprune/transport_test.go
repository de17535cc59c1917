package jsonprune

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
)

type stubTransport struct {
	*http.Response
}

func (s stubTransport) RoundTrip(*http.Request) (*http.Response, error) { return s.Response, nil }

func TestTransport(t *testing.T) {
	long := strings.Repeat("x", 3*bufferSize)
	const event, pruned = `{"object":{"status":{"big":1,"a":2}}}`, `{"object":{"status":{"a":2}}}`
	const list = `{"items":[{"status":{"big":1}},{"status":{"a":2,"big":1}}]}` + "\n"
	const prunedList = `{"items":[{"status":{}},{"status":{"a":2}}]}` + "\n"
	for _, c := range []struct {
		name, method, query, kind string
		code                      int
		body, want                string
	}{
		{
			name: "a watch", method: "GET", query: "?watch=true", kind: "application/json", code: 200,
			body: event + "\n" + event + "\n", want: pruned + "\n" + pruned + "\n",
		},
		{
			name: "a watch by number", method: "GET", query: "?watch=1", kind: "application/json;stream=watch", code: 200,
			body: event + "\n", want: pruned + "\n",
		},
		{
			name: "a last line without an end", method: "GET", query: "?watch=true", kind: "application/json", code: 200,
			body: event + "\n" + event, want: pruned + "\n" + pruned,
		},
		{
			name: "an event longer than the buffer", method: "GET", query: "?watch=true", kind: "application/json", code: 200,
			body: `{"object":{"status":{"big":"` + long + `","a":"` + long + `"}}}` + "\n",
			want: `{"object":{"status":{"a":"` + long + `"}}}` + "\n",
		},
		{
			name: "a watch of another resource", method: "GET", query: "/others?watch=true", kind: "application/json", code: 200,
			body: event, want: event,
		},
		{
			name: "a list", method: "GET", kind: "application/json", code: 200,
			body: list, want: prunedList,
		},
		{
			name: "an empty list", method: "GET", kind: "application/json", code: 200,
			body: `{"items":[],"kind":"AddOnList"}`, want: `{"items":[],"kind":"AddOnList"}`,
		},
		{
			name: "a list of large objects", method: "GET", query: "/clusters", kind: "application/json", code: 200,
			body: list, want: list,
		},
		{
			name: "a watch of large objects", method: "GET", query: "/clusters?watch=true", kind: "application/json", code: 200,
			body: event, want: pruned,
		},
		{
			name: "a list of another resource", method: "GET", query: "/others", kind: "application/json", code: 200,
			body: list, want: list,
		},
		{
			name: "an object", method: "GET", query: "/addons", kind: "application/json", code: 200,
			body: `{"status":{"big":1}}`, want: `{"status":{"big":1}}`,
		},
		{
			name: "a write", method: "POST", query: "?watch=true", kind: "application/json", code: 200,
			body: list, want: list,
		},
		{
			name: "another encoding", method: "GET", query: "?watch=true", kind: "application/vnd.kubernetes.protobuf;stream=watch", code: 200,
			body: event, want: event,
		},
		{
			name: "a refusal", method: "GET", query: "?watch=true", kind: "application/json", code: 410,
			body: event, want: event,
		},
	} {
		for name, chunks := range map[string]func(io.Reader) io.Reader{
			"": func(r io.Reader) io.Reader { return r }, ", byte by byte": iotest.OneByteReader, ", with its end": iotest.DataErrReader,
		} {
			response := &http.Response{
				StatusCode: c.code, Header: http.Header{"Content-Type": {c.kind}}, Body: io.NopCloser(chunks(strings.NewReader(c.body))),
			}
			transport := &Transport{
				Next:  stubTransport{response},
				Drop:  map[string]*Drop{"addons": drop, "clusters": drop},
				Lists: []string{"addons"},
			}
			got, err := transport.RoundTrip(httptest.NewRequest(c.method, "/apis/x/addons"+c.query, nil))
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(got.Body)
			if err != nil || string(body) != c.want {
				t.Errorf("%s%s: %s %v", c.name, name, body, err)
			}
			if err := got.Body.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestTransportReturnsErrorForTruncatedList(t *testing.T) {
	response := &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(io.MultiReader(strings.NewReader(`{"items":[`), iotest.ErrReader(io.ErrUnexpectedEOF))),
	}
	transport := &Transport{Next: stubTransport{response}, Drop: map[string]*Drop{"addons": drop}, Lists: []string{"addons"}}
	_, err := transport.RoundTrip(httptest.NewRequest(http.MethodGet, "/apis/x/addons", nil)) //nolint:bodyclose // an error has no body
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
}
