package conversion

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"runtime"
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
		{name: "a null object", body: review("null"), status: "Failure", message: "not a JSON object"},
	} {
		t.Run(test.name, func(t *testing.T) {
			recorder := post(test.body)
			var response apiextensionsv1.ConversionReview
			if err := json.Unmarshal(recorder.Body.Bytes(), &response); err != nil || recorder.Code != http.StatusOK {
				t.Fatalf("code %d, %v: %s", recorder.Code, err, recorder.Body)
			}
			if response.Kind != "ConversionReview" || response.APIVersion != "apiextensions.k8s.io/v1" || response.Request != nil ||
				response.Response == nil {
				t.Fatalf("response %s", recorder.Body)
			}
			got := response.Response
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

// An API server can store each of these objects of 1.5 MiB. An object that cannot
// be converted would fail every list and watch of v1beta1.
func TestHandlerConvertsWhateverIsStored(t *testing.T) {
	const stored = 3 << 19
	fill := func(start, unit, end string) string { return start + strings.Repeat(unit, stored/len(unit)) + end }
	for name, rest := range map[string]string{
		"commas in an annotation":         fill(`,"metadata":{"name":"x","annotations":{"a":"`, ",", `"}}`),
		"escapes in an annotation":        fill(`,"metadata":{"name":"x","annotations":{"a":"`, `\\\"`, `"}}`),
		"signs that grow when escaped":    fill(`,"spec":{"addOnMeta":{"description":"`, "<", `"}}`),
		"configurations without defaults": fill(`,"spec":{"supportedConfigs":[`, `{"group":"","resource":"abcd"},`, `{}]}`),
		"configurations with defaults": fill(`,"spec":{"supportedConfigs":[`, `{"group":"","resource":"a","defaultConfig":{"name":"n"}},`,
			`{}]}`),
		"groups of decisions": fill(`,"spec":{"installStrategy":{"placements":[{"mandatoryDecisionGroups":[`, `{},`, `{}]}]}}`),
		"members":             fill(`,"metadata":{"name":"x","labels":{`, `"abc":"",`, `"a":""}}`),
	} {
		t.Run(name, func(t *testing.T) {
			beta := converted(t, post(review("{"+alpha+rest+"}")))
			back := converted(t, post(strings.Replace(review(string(beta)), `io/v1beta1"`, `io/v1alpha1"`, 1)))
			if want := "{" + alpha + rest + "}"; string(back) != want {
				t.Errorf("%d bytes became %d: %.300s", len(want), len(back), back)
			}
		})
	}
}

func converted(t *testing.T, recorder *httptest.ResponseRecorder) []byte {
	t.Helper()
	var response apiextensionsv1.ConversionReview
	if err := json.Unmarshal(recorder.Body.Bytes(), &response); err != nil || len(response.Response.ConvertedObjects) != 1 {
		t.Fatalf("code %d, %v: %.300s", recorder.Code, err, recorder.Body)
	}
	return response.Response.ConvertedObjects[0].Raw
}

// Any client can send a request. Nothing in it is decoded.
func TestHandlerTakesLittleMemory(t *testing.T) {
	const (
		size = 1 << 20
		// factor is the maximum memory for a byte of the request. A decoded value takes 200 times its length.
		factor = 8
	)
	fill := func(start, unit, end string) string { return start + strings.Repeat(unit, size/len(unit)) + end }
	for name, body := range map[string]string{
		"objects":        review(fill(`{`+alpha+`}`, `,{`+alpha+`}`, ``)),
		"configurations": review(fill(`{`+alpha+`,"spec":{"supportedConfigs":[`, `{},`, `{}]}}`)),
		"elements":       review(fill(`{`+alpha+`,"spec":{"supportedConfigs":[`, `1,`, `1]}}`)),
		"members":        review(fill(`{`+alpha, `,"a":1`, `}`)),
		"a long name":    review(fill(`{"kind":"Secret","metadata":{"name":"`, `<`, `"}}`)),
		"a long uid":     strings.Replace(review(), `"42"`, fill(`"`, `<`, `"`), 1),
		"a long version": strings.Replace(review("{"+alpha+"}"), "/v1beta1", fill("/", `<`, ""), 1),
		"a long kind":    strings.Replace(review(), "ConversionReview", fill("", `<`, ""), 1),
	} {
		t.Run(name, func(t *testing.T) {
			request := httptest.NewRequest(http.MethodPost, Path, nil)
			request.Body = arrived{bytes.NewBufferString(body)}
			writer := &discarding{header: http.Header{}}
			var start, end runtime.MemStats
			runtime.ReadMemStats(&start)
			NewHandler(logr.Discard()).ServeHTTP(writer, request)
			runtime.ReadMemStats(&end)
			if took := end.TotalAlloc - start.TotalAlloc; took > uint64(factor*len(body)) { // nearly all of it is garbage immediately
				t.Errorf("it took %d KiB for a body of %d KiB", took>>10, len(body)>>10)
			}
		})
	}
}

// arrived is a body that package limits has read.
type arrived struct{ *bytes.Buffer }

func (arrived) Close() error { return nil }

// discarding is a client that keeps no response.
type discarding struct{ header http.Header }

func (d *discarding) Header() http.Header             { return d.header }
func (*discarding) Write(content []byte) (int, error) { return len(content), nil }
func (*discarding) WriteHeader(int)                   {}

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
