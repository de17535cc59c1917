package cli

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// connected is in the output of why if it has read the hub.
const connected = "1. managed-serviceaccount is not available"

// guarded serves the hub of serve over TLS, to clients whose requests have the header.
func guarded(t *testing.T, header, value string) *clientcmdapi.Cluster {
	t.Helper()
	hub := apiServer(t)
	server := httptest.NewTLSServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		if request.Header.Get(header) != value {
			http.Error(response, "wrong "+header, http.StatusUnauthorized)
			return
		}
		hub.ServeHTTP(response, request)
	}))
	t.Cleanup(server.Close)
	return &clientcmdapi.Cluster{Server: server.URL, CertificateAuthorityData: certificate(server)}
}

func certificate(server *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

// useKubeconfig writes a kubeconfig with a cluster and a user, and returns its path.
func useKubeconfig(t *testing.T, cluster *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) string {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["hub"], config.AuthInfos["me"] = cluster, user
	config.Contexts["hub"] = &clientcmdapi.Context{Cluster: "hub", AuthInfo: "me"}
	config.CurrentContext = "hub"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", path)
	return path
}

func connects(t *testing.T, args ...string) {
	t.Helper()
	if got := run(t, append([]string{"why", "-A"}, args...)...); !strings.Contains(got, connected) {
		t.Errorf("it does not connect: %s", got)
	}
}

// idToken returns an ID token with an expiry. Its signature is for an API server to check.
func idToken(t *testing.T, expiry time.Time) string {
	t.Helper()
	claims, err := json.Marshal(map[string]any{"sub": "me", "exp": expiry.Unix()})
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"none"}`)) + "." + encode(claims) + "." + encode([]byte("signature"))
}

// identityProvider serves an OIDC issuer that exchanges any refresh token for the ID token.
func identityProvider(t *testing.T, token string) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	mux.HandleFunc("/.well-known/openid-configuration", func(response http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(response, `{"issuer": %q, "token_endpoint": %q}`, server.URL, server.URL+"/token")
	})
	mux.HandleFunc("/token", func(response http.ResponseWriter, _ *http.Request) {
		response.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(response, `{"access_token": "unused", "token_type": "Bearer", "id_token": %q}`, token)
	})
	return server
}

func TestConnectsWithOIDC(t *testing.T) {
	valid, expired := idToken(t, time.Now().Add(time.Hour)), idToken(t, time.Now().Add(-time.Hour))
	cluster := guarded(t, "Authorization", "Bearer "+valid)
	for name, stored := range map[string]string{"a valid token": valid, "a token to refresh": expired} {
		t.Run(name, func(t *testing.T) {
			issuer := identityProvider(t, valid)
			path := useKubeconfig(t, cluster, &clientcmdapi.AuthInfo{AuthProvider: &clientcmdapi.AuthProviderConfig{
				Name: "oidc",
				Config: map[string]string{
					"client-id": "kubectl", "idp-issuer-url": issuer.URL, "id-token": stored, "refresh-token": "refresh",
					"idp-certificate-authority-data": base64.StdEncoding.EncodeToString(certificate(issuer)),
				},
			}})
			connects(t)
			if written, err := os.ReadFile(path); err != nil || !strings.Contains(string(written), valid) {
				t.Errorf("the kubeconfig has not the new token, error %v:\n%s", err, written)
			}
		})
	}
}

func TestConnectsWithExecPlugin(t *testing.T) {
	login := filepath.Join(t.TempDir(), "login")
	const script = `#!/bin/sh
echo '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "'$TOKEN'"}}'
`
	if err := os.WriteFile(login, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	useKubeconfig(t, guarded(t, "Authorization", "Bearer from-exec"), &clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
		APIVersion: "client.authentication.k8s.io/v1", Command: login, InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
		Env: []clientcmdapi.ExecEnvVar{{Name: "TOKEN", Value: "from-exec"}},
	}})
	connects(t)
}

func TestConnectsAsAnotherUser(t *testing.T) {
	useKubeconfig(t, guarded(t, "Impersonate-User", "viewer"), &clientcmdapi.AuthInfo{})
	connects(t, "--as", "viewer")
	useKubeconfig(t, guarded(t, "Impersonate-Group", "viewers"), &clientcmdapi.AuthInfo{})
	connects(t, "--as", "someone", "--as-group", "viewers")
}

// proxied returns a cluster whose name only a proxy resolves, and the address of that proxy.
func proxied(t *testing.T) (cluster *clientcmdapi.Cluster, proxyURL string) {
	t.Helper()
	target, err := url.Parse(serve(t))
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(httputil.NewSingleHostReverseProxy(target))
	t.Cleanup(proxy.Close)
	return &clientcmdapi.Cluster{Server: "http://hub.invalid"}, proxy.URL
}

func TestConnectsThroughProxyOfKubeconfig(t *testing.T) {
	cluster, proxyURL := proxied(t)
	cluster.ProxyURL = proxyURL
	useKubeconfig(t, cluster, &clientcmdapi.AuthInfo{})
	connects(t)
}

// TestConnectsThroughProxyOfEnvironment runs the plugin as a program, because Go reads the variable once.
func TestConnectsThroughProxyOfEnvironment(t *testing.T) {
	cluster, proxyURL := proxied(t)
	useKubeconfig(t, cluster, &clientcmdapi.AuthInfo{})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plugin := exec.CommandContext(t.Context(), self, "why", "-A")
	plugin.Env = append(os.Environ(), asPlugin+"=1", "HTTP_PROXY="+proxyURL, "NO_PROXY=")
	if got, err := plugin.CombinedOutput(); err != nil || !strings.Contains(string(got), connected) {
		t.Errorf("it does not connect, error %v: %s", err, got)
	}
}

// TestConnectsToContexts tests a KUBECONFIG of several files, of which each has a context.
func TestConnectsToContexts(t *testing.T) {
	unreachable := useKubeconfig(t, &clientcmdapi.Cluster{Server: "http://127.0.0.1:1"}, &clientcmdapi.AuthInfo{})
	config := clientcmdapi.NewConfig()
	config.Clusters["second"] = guarded(t, "Authorization", "Bearer second")
	config.AuthInfos["second"] = &clientcmdapi.AuthInfo{Token: "second"}
	config.Contexts["second"] = &clientcmdapi.Context{Cluster: "second", AuthInfo: "second"}
	path := filepath.Join(t.TempDir(), "second")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", unreachable+string(filepath.ListSeparator)+path)
	connects(t, "--context", "second")
	if got := run(t, "why", "-A"); !strings.Contains(got, "does http://127.0.0.1:1 respond?") || !strings.Contains(got, "exit code 3") {
		t.Errorf("the current context is not that of the first file: %s", got)
	}
}
