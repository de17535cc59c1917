package jsonprune

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
)

type answer struct {
	*http.Response
}

func (a answer) RoundTrip(*http.Request) (*http.Response, error) { return a.Response, nil }

func TestTransport(t *testing.T) {
	long := strings.Repeat("x", 3*bufferSize)
	const all, pruned = `{"status":{"big":1,"a":2}}`, `{"status":{"a":2}}`
	for _, c := range []struct {
		name, method, query, kind string
		code                      int
		body, want                string
	}{
		{"a watch", "GET", "?watch=true", "application/json", 200, all + "\n" + all + "\n", pruned + "\n" + pruned + "\n"},
		{"a watch by number", "GET", "?watch=1", "application/json;stream=watch", 200, all + "\n", pruned + "\n"},
		{"a last line without an end", "GET", "?watch=true", "application/json", 200, all + "\n" + all, pruned + "\n" + pruned},
		{"an event longer than the buffer", "GET", "?watch=true", "application/json", 200, `{"status":{"big":"` + long + `","a":"` + long + `"}}` + "\n", `{"status":{"a":"` + long + `"}}` + "\n"},
		{"a watch of another resource", "GET", "/others?watch=true", "application/json", 200, all, all},
		{"a list", "GET", "", "application/json", 200, all, all},
		{"a write", "POST", "?watch=true", "application/json", 200, all, all},
		{"another encoding", "GET", "?watch=true", "application/vnd.kubernetes.protobuf;stream=watch", 200, all, all},
		{"a refusal", "GET", "?watch=true", "application/json", 410, all, all},
	} {
		for name, chunks := range map[string]func(io.Reader) io.Reader{
			"": func(r io.Reader) io.Reader { return r }, ", byte by byte": iotest.OneByteReader, ", with its end": iotest.DataErrReader,
		} {
			response := &http.Response{
				StatusCode: c.code, Header: http.Header{"Content-Type": {c.kind}}, Body: io.NopCloser(chunks(strings.NewReader(c.body))),
			}
			got, err := (&Transport{Next: answer{response}, Drop: map[string]Drop{"addons": drop}}).RoundTrip(httptest.NewRequest(c.method, "/apis/x/addons"+c.query, nil))
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
