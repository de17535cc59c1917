package fleet

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// TestSkipUnreadAcceptsHugeNumbers tests a number that the schema of OCM's CRD accepts, and
// that its types do not. Such a registration would end the list or the watch of all.
func TestSkipUnreadAcceptsHugeNumbers(t *testing.T) {
	const object = `{"apiVersion":"addon.open-cluster-management.io/v1alpha1","kind":"ClusterManagementAddOn","metadata":{"name":"x"},` +
		`"spec":{"addOnConfiguration":{"lastObservedGeneration":9e99},"dependencies":[{"name":"a"}],` +
		`"installStrategy":{"type":"Placements","placements":[{"name":"p","namespace":"n",` +
		`"rolloutStrategy":{"progressive":{"maxConcurrency":99999999999}}}]}},` +
		`"status":{"installProgressions":[{"conditions":[{"observedGeneration":9e99}]}]}}`
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		writer.Header().Set("Content-Type", "application/json")
		if request.URL.Query().Get("watch") == "true" {
			_, _ = writer.Write([]byte(`{"type":"ADDED","object":` + object + "}\n"))
			return
		}
		_, _ = writer.Write([]byte(`{"apiVersion":"addon.open-cluster-management.io/v1alpha1","items":[` + object + `,` + object + `],` +
			`"kind":"ClusterManagementAddOnList","metadata":{"resourceVersion":"1"}}` + "\n"))
	}))
	defer server.Close()
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(addonv1alpha1.GroupVersion.WithKind("ClusterManagementAddOn"), meta.RESTScopeRoot)
	newClient := func(config *rest.Config) client.WithWatch {
		hub, err := client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper})
		if err != nil {
			t.Fatal(err)
		}
		return hub
	}
	config := &rest.Config{Host: server.URL}
	if _, err := (Objects{Reader: newClient(config)}).AddOns(t.Context()); err == nil {
		t.Fatal("OCM's types accept it")
	}
	skipping := newClient(SkipUnread(config))
	listed, err := Objects{Reader: skipping}.AddOns(t.Context())
	if err != nil || len(listed) != 2 || len(listed[1].Spec.Dependencies) != 1 {
		t.Errorf("%v: %v", err, listed)
	}
	placements := listed[0].Spec.InstallStrategy.Placements
	if len(placements) != 1 || placements[0].Name != "p" || placements[0].Namespace != "n" {
		t.Errorf("placements %v", placements)
	}
	watched, err := skipping.Watch(t.Context(), &addonv1alpha1.ClusterManagementAddOnList{})
	if err != nil {
		t.Fatal(err)
	}
	defer watched.Stop()
	event := <-watched.ResultChan()
	if registration, ok := event.Object.(*addonv1alpha1.ClusterManagementAddOn); !ok || len(registration.Spec.Dependencies) != 1 {
		t.Errorf("%s %v", event.Type, event.Object)
	}
}

// TestSkipUnreadSkipsManifests tests that only clients that read the manifests of AddOnTemplates decode them.
func TestSkipUnreadSkipsManifests(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) {
		writer.Header().Set("Content-Type", "application/json")
		_, _ = writer.Write([]byte(`{"apiVersion":"addon.open-cluster-management.io/v1alpha1","items":[` +
			`{"metadata":{"name":"a-1"},"spec":{"addonName":"a","agentSpec":{"workload":{"manifests":[{"kind":"Secret"}]}}}}` +
			`],"kind":"AddOnTemplateList","metadata":{"resourceVersion":"1"}}` + "\n"))
	}))
	defer server.Close()
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(addonv1alpha1.GroupVersion.WithKind("AddOnTemplate"), meta.RESTScopeRoot)
	hubConfig := &rest.Config{Host: server.URL}
	for want, config := range []*rest.Config{SkipUnread(hubConfig), SkipUnreadRegistrations(hubConfig)} {
		hub, err := client.New(config, client.Options{Scheme: scheme, Mapper: mapper})
		if err != nil {
			t.Fatal(err)
		}
		read, err := Objects{Reader: hub}.Templates(t.Context())
		if err != nil || len(read) != 1 || read[0].Spec.AddonName != "a" || len(read[0].Spec.AgentSpec.Workload.Manifests) != want {
			t.Errorf("error %v, want %d manifests in %v", err, want, read)
		}
	}
}
