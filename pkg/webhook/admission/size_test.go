package admission

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const etcdLimit = 3 << 19 // bytes, the default limit of etcd

func filled(size int, start, unit, end string) string {
	return start + strings.Repeat(unit, size/len(unit)) + end
}

// named begins an add-on that has a name.
const named = `{"metadata":{"name":"x"`

func admissionReview(operation, version, object, old string) string {
	if old == "" {
		old = "null"
	}
	return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"42","name":"gateway",` +
		`"kind":{"version":"` + version + `"},"operation":"` + operation + `","object":` + object + `,"oldObject":` + old + `}}`
}

// reviewed returns the response as `addon-manager webhook` serves it, and the memory that
// it took.
func reviewed(t *testing.T, handler ctrladmission.Handler, body string) (*admissionv1.AdmissionResponse, uint64) {
	t.Helper()
	request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	if reason := Check([]byte(body)); reason != "" {
		recorder.Body.Write(Refuse([]byte(body[:min(len(body), 4096)]), reason))
	} else {
		(&ctrladmission.Webhook{Handler: handler}).ServeHTTP(recorder, request)
	}
	runtime.ReadMemStats(&end)
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(recorder.Body.Bytes(), &review); err != nil || review.Response == nil || review.Response.UID != "42" {
		t.Fatalf("%v: %.300s", err, recorder.Body)
	}
	return review.Response, end.TotalAlloc - start.TotalAlloc
}

// An object is checked if etcd could store it, also with unusual content. An object that
// was stored without a check can still be changed.
func TestALargeAddOnIsChecked(t *testing.T) {
	const absurd = `{"placements":[{"rolloutStrategy":{"progressive":{"maxConcurrency":99999999999}}}]}`
	configs := func(size int) string {
		return filled(size, named+`},"spec":{"installStrategy":`+absurd+`,"supportedConfigs":[`, `{"group":"","resource":"abc"},`, "{}]}}")
	}
	for name, test := range map[string]struct{ object, old, denied string }{
		"brackets in an annotation": {
			object: filled(101_000, named+`,"annotations":{"a":"`, "[", `"}},"spec":{"installStrategy":`+absurd+"}}"),
			denied: "cannot unmarshal number 99999999999 into Go struct field",
		},
		"labels": {
			object: filled(etcdLimit, named+`,"labels":{`, `"abc":"",`, `"a":""}},"spec":{"installStrategy":`+absurd+"}}"), denied: "maxConcurrency",
		},
		"records of managers": {
			object: filled(etcdLimit, named+`,"managedFields":[{"fieldsV1":{`, `"f:a":{},`, `"f:a":{}}}]},"spec":{"installStrategy":`+absurd+"}}"),
			denied: "maxConcurrency",
		},
		"configurations": {object: configs(etcdLimit), denied: "maxConcurrency"},
		"two large ones": {
			object: configs(etcdLimit), old: strings.ReplaceAll(configs(etcdLimit), "99999999999", "5"), denied: "maxConcurrency",
		},
		"a large one is corrected": {object: named + "}}", old: configs(etcdLimit)},
		"more than etcd stores": {
			object: configs(2 * etcdLimit),
			denied: "add-on 'gateway': spec.supportedConfigs is too long: of all lists, at most 60000 elements can be checked",
		},
		"a stored one with too many values is changed":   {object: configs(2 * etcdLimit), old: configs(2 * etcdLimit)},
		"a stored one with too many values gets another": {object: configs(20), old: configs(2 * etcdLimit), denied: "maxConcurrency"},
		"selectors": {
			object: filled(100_000, named+`},"spec":{"dependencies":[{"name":"a","when":{"clusterSelector":{"matchExpressions":[{"values":[`,
				`"a",`, `"a"]}]}}}]}}`),
			denied: "add-on 'gateway': spec.dependencies has about 25008 values; at most 20000 can be checked",
		},
		"a message that no annotation can record": {
			object: filled(200<<10, named+`},"spec":{"dependencies":[{"name":"a","message":"`, "m", `"}]}}`),
			denied: "add-on 'gateway': spec.dependencies is too long: what an add-on declares in spec can have at most 196608 bytes",
		},
		"selectors in an annotation": {
			object: filled(100_000, named+`,"annotations":{"`+addonv1alpha1.DependenciesAnnotation+`":"`, `- {}\n`, `"}}}`),
			denied: "metadata.annotations[" + addonv1alpha1.DependenciesAnnotation + "]: it has about 49998 values; at most 20000 are read",
		},
	} {
		t.Run(name, func(t *testing.T) {
			operation := "CREATE"
			if test.old != "" {
				operation = "UPDATE"
			}
			response, _ := reviewed(t, NewValidator(hub(t, nil), nil), admissionReview(operation, "v1alpha1", test.object, test.old))
			if response.Allowed != (test.denied == "") || !strings.Contains(response.Result.Message, test.denied) {
				t.Errorf("allowed %t: %.300s", response.Allowed, response.Result.Message)
			}
		})
	}
}

// Any client can send a review of 7 MiB. Large reviews are decoded one after the other.
func TestReviewsTakeBoundedMemory(t *testing.T) {
	const size, limit = 3 << 20, 110 << 20 // more than half of it is garbage: lists that have grown
	hostile := map[string]string{
		"placements":             filled(size, named+`},"spec":{"installStrategy":{"placements":[`, "1,", "1]}}}"),
		"empty placements":       filled(size, named+`},"spec":{"installStrategy":{"placements":[`, "{},", "{}]}}}"),
		"placements, as allowed": filled(2*59_000, named+`},"spec":{"installStrategy":{"placements":[`, "1,", "1]}}}"),
		"conditions, as allowed": filled(2*59_000, named+`},"status":{"installProgressions":[{"conditions":[`, "1,", "1]}]}}"),
		"dependencies":           filled(size, named+`},"spec":{"dependencies":[`, "{},", "{}]}}"),
		"annotations":            filled(size, named+`,"annotations":{`, `"a":"",`, `"b":""}}}`),
		"members of the spec":    filled(size, named+`},"spec":{`, `"abc":1,`, `"a":1}}`),
		"metadata":               filled(size, named+`,"ownerReferences":[`, "{},", "{}]}}"),
		"a record":               filled(size, named+`,"annotations":{"`+addonv1alpha1.DependenciesAnnotation+`":"[`, "[],", `[]]"}}}`),
		"no object":              filled(size, "[", "{},", "{}]"),
	}
	recorder, _ := recorder(t, "", nil)
	for name, object := range hostile {
		for operation, body := range map[string]string{
			"CREATE": admissionReview("CREATE", "v1beta1", object, ""), "UPDATE": admissionReview("UPDATE", "v1alpha1", named+"}}", object),
		} {
			for path, handler := range map[string]ctrladmission.Handler{Path: NewValidator(hub(t, nil), nil), RecordPath: recorder} {
				if _, took := reviewed(t, handler, body); took > limit {
					t.Errorf("%s, %s at %s: it took %d MiB", name, operation, path, took>>20)
				}
			}
		}
	}
}

func TestCheck(t *testing.T) {
	for name, test := range map[string]struct{ body, want string }{
		"an object of any kind": {admissionReview("UPDATE", "v1", filled(3<<20, "[", "{},", "{}]"), filled(3<<20, "[", "1,", "1]")), ""},
		"a long name": {
			strings.Replace(admissionReview("CREATE", "v1", "{}", ""), "gateway", strings.Repeat("<", 2<<20), 1), "at most 1048576 and 50000",
		},
		"many groups": {
			strings.Replace(admissionReview("CREATE", "v1", "{}", ""), `"name"`, filled(300_000, `"groups":[`, `"",`, `""],"name"`), 1),
			"50000 are read",
		},
		"a second object": {
			strings.Replace(admissionReview("CREATE", "v1", "{}", ""), `"name"`, filled(300_000, `"object":{},"object":[`, `1,`, `1],"name"`), 1),
			"at most",
		},
		"nothing": {"{}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Check([]byte(test.body)); !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestRefuseNeedsAUID(t *testing.T) {
	for name, test := range map[string]struct {
		start    string
		responds bool
	}{
		"as an API server writes it": {admissionReview("CREATE", "v1", "{}", "")[:120], true},
		"cut within the uid":         {`{"request":{"uid":"4`, false},
		"none":                       {`{"request":{"name":"x"`, false},
		"a number":                   {`{"request":{"uid":4}}`, false},
		"no request":                 {`[1`, false},
		"nothing":                    {``, false},
	} {
		t.Run(name, func(t *testing.T) {
			response := Refuse([]byte(test.start), "too large")
			if responds := response != nil; responds != test.responds {
				t.Errorf("%s", response)
			}
		})
	}
}
