package hubcache

import (
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"open-cluster-management.io/interlock/pkg/fleet"
)

// TestMapperHasKindsOfCaches tests that no cache needs a hub that responds when it is created. Otherwise addon-manager would not start.
func TestMapperHasKindsOfCaches(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	mapper, err := Mapper(&rest.Config{Host: "http://127.0.0.1:1"}, http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	for _, options := range []cache.Options{Options(), LazyOptions(), InstallationOptions()} {
		for object := range options.ByObject {
			kind, err := apiutil.GVKForObject(object, scheme)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := mapper.RESTMapping(kind.GroupKind(), kind.Version); err != nil {
				t.Error(err)
			}
		}
	}
}
