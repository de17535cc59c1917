package guard

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	failing = `{"status":{"conditions":[
{"type":"Available","status":"True","reason":"Fine","message":"","lastTransitionTime":"2026-03-01T10:00:00Z"},
{"type":"Degraded","status":"True","reason":"RequiredDependencyNotSatisfied","message":"no base",
"lastTransitionTime":"2026-03-01T11:00:00Z"}]}}`
	patched = `[{"op":"replace","path":"/status/conditions/0","value":{"lastTransitionTime":"2026-03-01T11:00:00Z","message":"no base",` +
		`"reason":"RequiredDependencyNotSatisfied","status":"False","type":"Available"}}]`
)

func TestWebhookAllowsWhateverItIsSent(t *testing.T) {
	for name, test := range map[string]struct{ stored, update, patch string }{
		"Available while a Required dependency fails": {`{}`, failing, patched},
		"nothing to guard":                            {`{}`, `{"status":{}}`, ""},
		"a status that cannot be read":                {`{}`, `{"status":{"conditions":"none"}}`, ""},
		"a stored object that cannot be read":         {`{"status":7}`, failing, ""},
	} {
		t.Run(name, func(t *testing.T) {
			response := send(t, test.stored, test.update)
			if response == nil || !response.Allowed || response.UID != "1" || string(response.Patch) != test.patch {
				t.Errorf("response %+v, patch %s", response, response.Patch)
			}
		})
	}
}

func send(t *testing.T, stored, update string) *admissionv1.AdmissionResponse {
	t.Helper()
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "1", OldObject: runtime.RawExtension{Raw: []byte(stored)}, Object: runtime.RawExtension{Raw: []byte(update)},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequest(http.MethodPost, Path, bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	NewWebhook().ServeHTTP(recorder, request)
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(recorder.Body).Decode(&review); err != nil {
		t.Fatal(err)
	}
	return review.Response
}
