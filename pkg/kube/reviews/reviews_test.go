package reviews

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestBearerToken(t *testing.T) {
	for header, want := range map[string]string{
		"Bearer a.b-c": "a.b-c", "Bearer  a ": "a", "Bearer ": "", "Bearer": "", "bearer a": "a", "Basic a": "", "": "",
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		request.Header.Set("Authorization", header)
		if got := BearerToken(request); got != want {
			t.Errorf("%q: got %q, want %q", header, got, want)
		}
	}
}
