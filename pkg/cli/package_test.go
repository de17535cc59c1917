package cli

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// packable makes the folder of resolvable, with a lock and a key.
func packable(t *testing.T) {
	t.Helper()
	resolvable(t)
	expectRun(t, "resolve", "CLUSTERS")
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	pkix, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]pem.Block{
		"key.pem": {Type: "PRIVATE KEY", Bytes: pkcs8}, "key.pub": {Type: "PUBLIC KEY", Bytes: pkix},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(&block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPackageIsAnIndex(t *testing.T) {
	packable(t)
	expectRun(t, "package --sign-key key.pem", "sha256:", "addons.tar has 2 releases and names 0 images, of which it has 0. It is signed.\n")
	expectRun(t, "package --sign-key key.pem --to again.tar", "sha256:")
	first, err := os.ReadFile("addons.tar")
	if err != nil {
		t.Fatal(err)
	}
	if second, err := os.ReadFile("again.tar"); err != nil || string(first) != string(second) {
		t.Errorf("two packages of the same input differ: %v", err)
	}
	expectRun(t, "pull addons.tar --key key.pub --to inner", "sha256:", "inner has 2 releases. It is signed with the key.\n")
	for _, flags := range []string{"--index addons.tar --key key.pub", "--index inner"} {
		expectRun(t, "resolve inner/addons.yaml --locked "+flags, "CLUSTERS", "inner/addons.lock is current.\n")
		expectRun(t, "verify inner/addons.yaml "+flags, "0 differences.\n")
		expectRun(t, "build inner/addons.yaml --locked --to manifests "+flags, "manifests/00/proxy.yaml\nmanifests/01/gateway.yaml\n")
	}
	// The lock passes over no release of the package, and the index is no longer needed.
	if err := os.RemoveAll("index"); err != nil {
		t.Fatal(err)
	}
	wishes := "apiVersion: dependency.addon.open-cluster-management.io/v1alpha1\nkind: AddOnWishes\n" +
		"addOns: [{name: proxy, version: '>= 3'}]\n"
	if err := os.WriteFile("inner/addons.yaml", []byte(wishes), 0o600); err != nil {
		t.Fatal(err)
	}
	expectRun(t, "verify inner/addons.yaml --index addons.tar", "WHERE", "resolving again gives another lock", "exit code 1")
	expectRun(t, "resolve inner/addons.yaml --index addons.tar", "CLUSTERS", "inner/addons.lock was written.")
	expectRun(t, "build inner/addons.yaml --index addons.tar --locked", "manifests/00/proxy.yaml\n")
}

// TestPackageHasOnlyLockedReleases tests a lock that passed over a release. The release is not packed, and the lock of the package
// does not change.
func TestPackageHasOnlyLockedReleases(t *testing.T) {
	resolvable(t)
	writeWishes(t, "addOns: [{name: gateway}, {name: proxy, version: < 3}]\nclusterKinds: [{name: default, labels: {}, claims: {}}]\n")
	expectRun(t, "resolve", "CLUSTERS")
	expectFile(t, "addons.lock", "passedOver:")
	expectRun(t, "package", "sha256:", "addons.tar has 2 releases")
	expectRun(t, "verify --index addons.tar", "0 differences.\n")
	expectRun(t, "pull addons.tar --to inner", "sha256:", "Its signature was not checked: name a key with --key.\n")
	expectRun(t, "build inner/addons.yaml --index inner --locked", "manifests/00/proxy.yaml\n")
	expectFile(t, "manifests/00/proxy.yaml", "version: 2.0.0")
	if _, err := os.Stat("inner/addons/proxy/3.0.0.yaml"); err == nil {
		t.Error("a release was packed that the lock does not name")
	}
}

func TestPushAndPull(t *testing.T) {
	packable(t)
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	digest, _, _ := strings.Cut(run(t, "package", "--sign-key", "key.pem"), "\n")
	expectRun(t, "push addons.tar "+host+"/team/addons:1.0.0 --insecure", host+"/team/addons@"+digest+"\n", "was pushed with 0 images.\n")
	for _, reference := range []string{":1.0.0", "@" + digest} {
		for _, scheme := range []string{"", "oci://"} {
			expectRun(t, "pull "+scheme+host+"/team/addons"+reference+" --insecure --key key.pub --to pulled.tar", digest+"\n")
		}
	}
	if sent, err := os.ReadFile("addons.tar"); err != nil {
		t.Error(err)
	} else if got, err := os.ReadFile("pulled.tar"); err != nil || string(got) != string(sent) {
		t.Errorf("another file was pulled: %v", err)
	}
	flags := " --insecure --key key.pub --index oci://" + host + "/team/addons:1.0.0"
	expectRun(t, "resolve --locked"+flags, "CLUSTERS", "addons.lock is current.")
	expectRun(t, "verify"+flags, "0 differences.\n")
	expectRun(t, "build --locked"+flags, "manifests/00/proxy.yaml\n")

	expectRun(t, "package --to unsigned.tar", digest+"\n", "It is not signed.\n")
	expectRun(t, "push unsigned.tar "+host+"/team/unsigned:1 --insecure", host)
	expectRun(t, "pull "+host+"/team/unsigned:1 --insecure --key key.pub",
		"kubectl addon pull: "+host+"/team/unsigned:1: it is not signed", "exit code 1")
	expectRun(t, "pull "+host+"/team/none:1 --insecure",
		"kubectl addon pull: "+host+" does not have this in team/none (404 Not Found", "exit code 1")
	expectRun(t, "pull "+host+"/team/addons:1.0.0", "kubectl addon pull: ", "without TLS is refused", "exit code 1")
	expectRun(t, "push addons.tar "+host+"/team/addons@"+digest+" --insecure", "kubectl addon push: name a tag", "exit code 2")
	expectRun(t, "push addons.tar registry.example.com/addons:1 --insecure",
		"kubectl addon push: --insecure is for registries on loopback", "exit code 2")
	expectRun(t, "push none.tar "+host+"/team/addons:1 --insecure", "kubectl addon push: there is no file or folder none.tar", "exit code 2")
	expectRun(t, "pull none.tar", "kubectl addon pull: there is no file or folder none.tar", "exit code 2")
	for _, reference := range []string{"none", host + "/team/addons"} {
		expectRun(t, "pull "+reference, `kubectl addon pull: "`+reference+`": a tag or digest is missing`, "exit code 2")
	}
}

// TestPackageWithImages tests an image on loopback, without TLS, and an image with a variable.
func TestPackageWithImages(t *testing.T) {
	packable(t)
	outer := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(outer.Close)
	image := strings.TrimPrefix(outer.URL, "http://") + "/team/agent:1"
	reference, err := name.ParseReference(image)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(reference, empty.Image); err != nil {
		t.Fatal(err)
	}
	digest, err := empty.Image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	template := "\n---\napiVersion: addon.open-cluster-management.io/v1alpha1\nkind: AddOnTemplate\n" +
		"metadata: {name: gateway}\nspec:\n  addonName: gateway\n" +
		"  agentSpec: {workload: {manifests: [{apiVersion: v1, kind: Pod, metadata: {name: p}, " +
		"spec: {containers: [{image: '" + image + "'}, {image: '{{AGENT}}'}]}}]}}\n"
	if err := os.WriteFile("gateway/a.yaml", []byte(gateway+template), 0o600); err != nil {
		t.Fatal(err)
	}
	expectRun(t, "index build gateway --version gateway=2.0.0", "gateway 2.0.0 was added\n")
	expectRun(t, "resolve", "CLUSTERS")
	variable := `The image "{{AGENT}}" has a variable, so it is not packed.` + "\n"
	expectRun(t, "package", "sha256:", variable, "addons.tar has 2 releases and names 2 images, of which it has 0.")
	expectRun(t, "package --images", "kubectl addon package: image "+image, "without TLS is refused", "exit code 1")
	expectRun(t, "package --images --insecure", "sha256:", variable, "addons.tar has 2 releases and names 2 images, of which it has 1.")
	expectRun(t, "pull addons.tar --to inner", "sha256:")
	expectFile(t, "inner/package.yaml", "digest: "+digest.String(), "image: "+image)

	inner := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(inner.Close)
	host := strings.TrimPrefix(inner.URL, "http://")
	expectRun(t, "push addons.tar "+host+"/team/addons:1 --insecure --images-to "+host+"/mirror/", host, "was pushed with 1 image.\n")
	mirrored, err := name.ParseReference(host + "/mirror/team/agent:1")
	if err != nil {
		t.Fatal(err)
	}
	if head, err := remote.Head(mirrored); err != nil || head.Digest != digest {
		t.Errorf("%v, %v", head, err)
	}
}

func TestPackageRefuses(t *testing.T) {
	packable(t)
	expectRun(t, "package --sign-key key.pub", "kubectl addon package: --sign-key: key.pub: it must be a PRIVATE KEY", "exit code 2")
	expectRun(t, "verify --key key.pub", "kubectl addon verify: --key: index is a folder, and only a package has a signature", "exit code 2")
	expectRun(t, "verify --index addons.yaml", "kubectl addon verify: addons.yaml: it is no archive of a package", "exit code 1")
	expectRun(t, "package", "sha256:")
	expectRun(t, "pull addons.tar --key key.pem", "kubectl addon pull: --key: key.pem: it must be a PUBLIC KEY", "exit code 2")
	expectRun(t, "verify --index addons.tar --key key.pub", "kubectl addon verify: addons.tar: it is not signed", "exit code 1")
	writeFiles(t, map[string]string{"notes.tar": "mine"})
	expectRun(t, "pull addons.tar --to notes.tar", "kubectl addon pull: --to=notes.tar: the file exists, and is no package of add-ons",
		"exit code 2")
	expectRun(t, "pull addons.tar --to gateway", "kubectl addon pull: gateway is not empty: name a new folder", "exit code 2")
	expectRun(t, "index build proxy --version proxy=4.0.0", "proxy 4.0.0 was added\n")
	expectRun(t, "package --to other.tar", "kubectl addon package: addons.lock: the lock differs", "exit code 1")
	content, err := os.ReadFile("addons.tar")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("addons.tar", []byte(strings.Replace(string(content), "Manual", "manual", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	expectRun(t, "pull addons.tar --to out", "kubectl addon pull: addons.tar: blobs/sha256/", "its content was changed", "exit code 1")
	for _, output := range []string{"other.tar", "out"} {
		if _, err := os.Stat(output); err == nil {
			t.Errorf("%s was written", output)
		}
	}
	if temporary, err := filepath.Glob(".*"); err != nil || len(temporary) > 0 {
		t.Errorf("it left %q, %v", temporary, err)
	}
}

// TestEmptyFlagsAndOverwrittenInputsAreRefused tests that an unset variable in a script turns off no check, and that an output does not
// replace an input.
func TestEmptyFlagsAndOverwrittenInputsAreRefused(t *testing.T) {
	packable(t)
	expectRun(t, "package --sign-key key.pem", "sha256:")
	for _, command := range []string{
		"pull addons.tar --key=", "pull addons.tar --to=", "package --sign-key=", "package --to=", "resolve --key=", "resolve --index=",
		"build --key=", "build --to=", "verify --index addons.tar --key=", "verify --to=", "upgrade --index addons.tar --key=",
		"index build gateway --to=",
	} {
		verb, _, _ := strings.Cut(command, " ")
		flag := strings.TrimSuffix(command[strings.LastIndex(command, "--"):], "=")
		expectRun(t, command, "kubectl addon "+verb, `invalid argument "" for "`, flag+`" flag: must not be empty`, "exit code 2")
	}
	for command, output := range map[string]string{
		"resolve --lock addons.yaml":                              "addons.yaml",
		"resolve --index addons.tar --lock addons.tar":            "addons.tar",
		"resolve --index addons.tar --key key.pub --lock key.pub": "key.pub",
		"package --to addons.yaml":                                "addons.yaml",
		"package --to ./addons.lock":                              "./addons.lock",
		"package --index addons.tar --to addons.tar":              "addons.tar",
		"package --sign-key key.pem --to key.pem":                 "key.pem",
		"package --index addons.tar --key key.pub --to key.pub":   "key.pub",
		"pull addons.tar --to addons.tar":                         "addons.tar",
		"pull addons.tar --key key.pub --to key.pub":              "key.pub",
	} {
		original, err := os.ReadFile(output)
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Fields(command)
		expectRun(t, command, "kubectl addon "+words[0]+": "+words[len(words)-2]+": "+output+" is read too, and would be overwritten",
			"exit code 2")
		if current, err := os.ReadFile(output); err != nil || string(current) != string(original) {
			t.Errorf("%s: it was overwritten: %v", command, err)
		}
	}
	expectRun(t, "pull addons.tar --to key.pem", "kubectl addon pull: ", "key.pem cannot be written: it or a folder above", "exit code 1")
}
