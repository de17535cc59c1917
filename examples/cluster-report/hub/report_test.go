package hub

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	accountsv1beta1 "open-cluster-management.io/managed-serviceaccount/apis/authentication/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const token = "a token of managed-serviceaccount"

var key = client.ObjectKey{Namespace: "cluster1", Name: Name}

// managedCluster returns the API server of a managed cluster, with the two resources of
// the report. It accepts any client with the token.
func managedCluster(t *testing.T) *httptest.Server {
	t.Helper()
	responses := map[string]any{
		"/version": version.Info{GitVersion: "v1.35.4"},
		"/api/v1/namespaces": corev1.NamespaceList{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NamespaceList"},
			Items:    make([]corev1.Namespace, 3),
		},
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response, ok := responses[r.URL.Path]
		switch {
		case r.Header.Get("Authorization") != "Bearer "+token:
			w.WriteHeader(http.StatusUnauthorized)
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		default:
			w.Header().Set("Content-Type", "application/json")
			if err := json.NewEncoder(w).Encode(response); err != nil {
				t.Error(err)
			}
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func installed(available metav1.ConditionStatus) *addonv1beta1.ManagedClusterAddOn {
	addOn := &addonv1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "u"}}
	addOn.Status.Conditions = []metav1.Condition{{Type: "Available", Status: available}}
	return addOn
}

func hubWith(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme, err := Scheme()
	if err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&accountsv1beta1.ManagedServiceAccount{}).Build()
}

func reconcileOnce(t *testing.T, hub client.Client) (reconcile.Result, error) {
	t.Helper()
	return (&Reporter{Hub: hub}).Reconcile(t.Context(), reconcile.Request{NamespacedName: key})
}

func TestNothingIsAskedForWithoutTheDependency(t *testing.T) {
	hub := hubWith(t, installed("False"))
	if _, err := reconcileOnce(t, hub); err != nil {
		t.Fatal(err)
	}
	if err := hub.Get(t.Context(), key, &accountsv1beta1.ManagedServiceAccount{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("a ManagedServiceAccount was made, or cannot be read: %v", err)
	}
}

func TestTheReportIsMadeWithTheToken(t *testing.T) {
	cluster := managedCluster(t)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cluster.Certificate().Raw})
	managed := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "cluster1"}}
	managed.Spec.ManagedClusterClientConfigs = []clusterv1.ClientConfig{{URL: cluster.URL}}
	hub := hubWith(t, installed("True"), managed)

	if _, err := reconcileOnce(t, hub); err != nil {
		t.Fatal(err)
	}
	account := &accountsv1beta1.ManagedServiceAccount{}
	if err := hub.Get(t.Context(), key, account); err != nil {
		t.Fatal(err)
	}
	if !account.Spec.Rotation.Enabled || account.Spec.Rotation.Validity.Duration != 24*time.Hour || account.OwnerReferences[0].UID != "u" {
		t.Errorf("asked for %+v, owned by %v", account.Spec, account.OwnerReferences)
	}

	// managed-serviceaccount creates the token.
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: Name}}
	secret.Data = map[string][]byte{"token": []byte(token), "ca.crt": ca}
	if err := hub.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	account.Status.TokenSecretRef = &accountsv1beta1.SecretRef{Name: Name}
	if err := hub.Status().Update(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	result, err := reconcileOnce(t, hub)
	if err != nil || result.RequeueAfter != reportInterval {
		t.Fatalf("%v, error %v", result, err)
	}
	report := &corev1.ConfigMap{}
	if err := hub.Get(t.Context(), key, report); err != nil {
		t.Fatal(err)
	}
	if report.Data["kubernetes"] != "v1.35.4" || report.Data["namespaces"] != "3" || len(report.OwnerReferences) != 1 {
		t.Errorf("report %v, owned by %v", report.Data, report.OwnerReferences)
	}

	secret.Data["token"] = []byte("expired")
	if err := hub.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	if _, err := reconcileOnce(t, hub); err == nil || !strings.Contains(err.Error(), "ask cluster cluster1") {
		t.Errorf("with a token that the cluster does not take: %v", err)
	}
}

func TestAClusterWithoutAnAddressIsNotTriedAgainAndAgain(t *testing.T) {
	account := &accountsv1beta1.ManagedServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	account.Status.TokenSecretRef = &accountsv1beta1.SecretRef{Name: Name}
	hub := hubWith(t, installed("True"), account, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "cluster1"}})
	_, err := reconcileOnce(t, hub)
	if err == nil || !strings.Contains(err.Error(), "terminal error") || !strings.Contains(err.Error(), "managedClusterClientConfigs") {
		t.Errorf("got %v", err)
	}
}

func TestEverythingIsRendered(t *testing.T) {
	addOn, err := newAddOn("image:v1")
	if err != nil {
		t.Fatal(err)
	}
	objects, err := addOn.Manifests(t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "cluster1"}}, installed("True"))
	if err != nil || len(objects) != 6 {
		t.Fatalf("%d objects, error %v", len(objects), err)
	}
	for _, object := range objects {
		text, err := json.Marshal(object)
		if err != nil || strings.Contains(string(text), "no value") {
			t.Errorf("%s, error %v", text, err)
		}
	}
}
