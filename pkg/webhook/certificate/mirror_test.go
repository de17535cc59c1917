package certificate

import (
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

var secretKey = types.NamespacedName{Namespace: "interlock-system", Name: "certificate"}

func secret(name string, data map[string]string) *corev1.Secret {
	object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: secretKey.Namespace, Name: name}, Data: map[string][]byte{}}
	for file, content := range data {
		object.Data[file] = []byte(content)
	}
	return object
}

func TestMirror(t *testing.T) {
	for _, test := range []struct {
		name   string
		before map[string]string
		secret *corev1.Secret
		asked  string
		want   map[string]string
	}{
		{"made for the first time", nil, secret("certificate", map[string]string{"tls.crt": "c", "tls.key": "k", "ca.key": "s"}), "certificate", map[string]string{"tls.crt": "c", "tls.key": "k"}},
		{"renewed", map[string]string{"tls.crt": "old", "tls.key": "old"}, secret("certificate", map[string]string{"tls.crt": "c", "tls.key": "k"}), "certificate", map[string]string{"tls.crt": "c", "tls.key": "k"}},
		{"emptied: what is served is kept", map[string]string{"tls.crt": "old", "tls.key": "old"}, secret("certificate", nil), "certificate", map[string]string{"tls.crt": "old", "tls.key": "old"}},
		{"half made", nil, secret("certificate", map[string]string{"tls.crt": "c"}), "certificate", map[string]string{}},
		{"gone: what is served is kept", map[string]string{"tls.crt": "old"}, secret("unrelated", nil), "certificate", map[string]string{"tls.crt": "old"}},
		{"another Secret", nil, secret("other", map[string]string{"tls.crt": "c", "tls.key": "k"}), "other", map[string]string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, content := range test.before {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			mirror := &Mirror{Reader: fake.NewClientBuilder().WithObjects(test.secret).Build(), Key: secretKey, Dir: dir}
			asked := types.NamespacedName{Namespace: secretKey.Namespace, Name: test.asked}
			if _, err := mirror.Reconcile(t.Context(), ctrl.Request{NamespacedName: asked}); err != nil {
				t.Fatal(err)
			}
			files, err := os.ReadDir(dir)
			if err != nil || len(files) != len(test.want) {
				t.Errorf("%v, files %v, want %v", err, files, test.want)
			}
			for name, want := range test.want {
				if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
					t.Errorf("%s is %q, want %q (%v)", name, got, want, err)
				}
			}
		})
	}
}

func TestMirrorTellsWhatItCannotWrite(t *testing.T) {
	object := secret("certificate", map[string]string{"tls.crt": "c", "tls.key": "k"})
	mirror := &Mirror{Reader: fake.NewClientBuilder().WithObjects(object).Build(), Key: secretKey, Dir: filepath.Join(t.TempDir(), "missing")}
	if _, err := mirror.Reconcile(t.Context(), ctrl.Request{NamespacedName: secretKey}); err == nil {
		t.Error("no error")
	}
}
