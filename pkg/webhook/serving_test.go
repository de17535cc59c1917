package webhook

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/compat/guard"
	"open-cluster-management.io/interlock/pkg/kube/apidiscovery"
	"open-cluster-management.io/interlock/pkg/webhook/admission"
)

// unreadable is a manager without a hub.
type unreadable struct{ ctrl.Manager }

func (unreadable) GetLogger() logr.Logger      { return logr.Discard() }
func (unreadable) GetAPIReader() client.Reader { return nil }
func (unreadable) GetCache() cache.Cache       { return nil }

func (unreadable) GetEventRecorder(string) events.EventRecorder { return nil }

// An error lets a write pass, because the failure policy is Ignore. So only the validator
// responds to such a write with a denial.
func TestOnlyTheValidatorDeniesWhatIsTooLarge(t *testing.T) {
	review := func(members string) string {
		return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"42","operation":"CREATE"` + members + `}}`
	}
	tooLarge := review(`,"object":"` + strings.Repeat("<", 7<<20) + `"`)
	tooMany := review(`,"groups":[` + strings.Repeat(`"",`, 100_001) + `""]`)
	mux := handlers(&draining{Manager: unreadable{}}, Options{}, apidiscovery.API{}).WebhookMux()
	for name, test := range map[string]struct {
		path, body string
		code       int
		want       string
	}{
		"validator, too large": {admission.Path, tooLarge, http.StatusOK, `"uid":"42","allowed":false,`},
		"validator, too many":  {admission.Path, tooMany, http.StatusOK, `"uid":"42","allowed":false,`},
		"recorder, too large":  {admission.RecordPath, tooLarge, http.StatusRequestEntityTooLarge, "at most 7340032 bytes"},
		"recorder, too many":   {admission.RecordPath, tooMany, http.StatusRequestEntityTooLarge, "at most 1048576 and 50000 are read"},
		"guard, too large":     {guard.Path, tooLarge, http.StatusRequestEntityTooLarge, "at most 7340032 bytes"},
		"guard, too many":      {guard.Path, tooMany, http.StatusRequestEntityTooLarge, "at most 100000 are read"},
	} {
		t.Run(name, func(t *testing.T) {
			recorder := httptest.NewRecorder()
			mux.ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, test.path, strings.NewReader(test.body)))
			if recorder.Code != test.code || !strings.Contains(recorder.Body.String(), test.want) {
				t.Errorf("code %d: %.300s", recorder.Code, recorder.Body)
			}
		})
	}
}
