package conversion

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func post(body string) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	NewHandler(logr.Discard()).ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, Path, strings.NewReader(body)))
	return recorder
}

func review(objects ...string) string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"42",
		"desiredAPIVersion":"addon.open-cluster-management.io/v1beta1","objects":[` + strings.Join(objects, ",") + `]}}`
}

func TestHandlerAnswers(t *testing.T) {
	for _, test := range []struct {
		name, body string
		status     string
		objects    int
		message    string
	}{
		{name: "no objects", body: review(), status: "Success"},
		{name: "several objects", body: review("{"+alpha+"}", "{"+alpha+"}", "{"+beta+"}"), status: "Success", objects: 3},
		{name: "a thousand objects", body: review(slices.Repeat([]string{"{" + alpha + "}"}, 1000)...), status: "Success", objects: 1000},
		{
			name: "one bad object among a thousand",
			body: review(append(slices.Repeat([]string{"{" + alpha + "}"}, 1000), `{"kind":"Secret"}`)...), status: "Failure",
			message: "Secret",
		},
		{
			name: "an unknown version of an object", body: review(strings.Replace("{"+alpha+"}", "v1alpha1", "v2", 1)),
			status: "Failure", message: "io/v2 to addon.open-cluster-management.io/v1beta1: only",
		},
		{
			name: "an unknown version desired", body: strings.Replace(review("{"+alpha+"}"), `io/v1beta1"`, `io/v3"`, 1),
			status: "Failure", message: "to addon.open-cluster-management.io/v3: only",
		},
		{
			name:   "nested too deep",
			body:   review("{" + alpha + `,"spec":` + strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000) + "}"),
			status: "Success", objects: 1,
		},
		{name: "one bad object fails no other", body: review("{"+alpha+"}", "{"+alpha+`,"spec":1}`), status: "Success", objects: 2},
		{name: "a null object", body: review("null"), status: "Failure", message: "read the object"},
	} {
		t.Run(test.name, func(t *testing.T) {
			recorder := post(test.body)
			var answer apiextensionsv1.ConversionReview
			if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || recorder.Code != http.StatusOK {
				t.Fatalf("code %d, %v: %s", recorder.Code, err, recorder.Body)
			}
			if answer.Kind != "ConversionReview" || answer.APIVersion != "apiextensions.k8s.io/v1" || answer.Request != nil ||
				answer.Response == nil {
				t.Fatalf("response %s", recorder.Body)
			}
			got := answer.Response
			if got.UID != "42" || got.Result.Status != test.status || len(got.ConvertedObjects) != test.objects ||
				!strings.Contains(got.Result.Message, test.message) {
				t.Errorf("response %+v", got)
			}
		})
	}
}

func TestHandlerRefusesWhatIsNoReview(t *testing.T) {
	for _, body := range []string{
		"", "{", "null", "[]", `"text"`, "{}",
		`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview"}`,
		`{"apiVersion":"apiextensions.k8s.io/v1beta1","kind":"ConversionReview","request":{"uid":"1"}}`,
		`{"apiVersion":"v1","kind":"Pod","request":{"uid":"1"}}`,
	} {
		if recorder := post(body); recorder.Code != http.StatusBadRequest || recorder.Body.Len() < 10 {
			t.Errorf("%q: code %d, %q", body, recorder.Code, recorder.Body)
		}
	}
}

func TestHandlerRefusesWhatIsTooLarge(t *testing.T) {
	body := review("{" + alpha + `,"spec":{"addOnMeta":{"description":"` + strings.Repeat("x", 5000) + `"}}}`)
	recorder := httptest.NewRecorder()
	newHandler(logr.Discard(), 4000).ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, Path, strings.NewReader(body)))
	if recorder.Code != http.StatusRequestEntityTooLarge || !strings.Contains(recorder.Body.String(), "too large") {
		t.Errorf("code %d, %q", recorder.Code, recorder.Body)
	}
}

// FuzzHandler looks for a request that panics.
func FuzzHandler(f *testing.F) {
	f.Add(
		review("{" + alpha + `,"spec":{"dependencies":[{"name":"a"}],"installStrategy":{"type":"Placements","placements":[{"name":"p"}]}}}`),
	)
	f.Add(review("{"+beta+`,"status":{"installProgressions":[{"name":"p"}]}}`, "null", "1", `{"kind":"ClusterManagementAddOn"}`))
	f.Add(`{"request":{"objects":[{}]}}`)
	f.Fuzz(func(t *testing.T, body string) {
		if code := post(body).Code; code != http.StatusOK && code != http.StatusBadRequest {
			t.Errorf("code %d", code)
		}
	})
}
