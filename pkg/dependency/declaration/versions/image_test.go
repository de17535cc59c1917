package versions

import "testing"

func TestOfImage(t *testing.T) {
	for image, want := range map[string]string{
		"quay.io/open-cluster-management/cluster-proxy:v0.9.0": "0.9.0",
		"quay.io/open-cluster-management/cluster-proxy:0.10.0": "0.10.0",
		"registry:5000/proxy:v1.2.3-rc.1":                      "1.2.3-rc.1",
		"proxy:v1.2.3":                                         "1.2.3",
		"quay.io/proxy:v1.2.3@sha256:0123456789abcdef":         "1.2.3",
		"quay.io/proxy@sha256:0123456789abcdef":                "cannot tell: image by digest",
		"registry:5000/proxy":                                  "cannot tell: image without a tag",
		"proxy":                                                "cannot tell: image without a tag",
		"":                                                     "cannot tell: image without a tag",
		"quay.io/proxy:latest":                                 `cannot tell: tag "latest" is no semantic version`,
		"quay.io/proxy:v1.2":                                   `cannot tell: tag "v1.2" is no semantic version`,
		"quay.io/proxy:20240101":                               `cannot tell: tag "20240101" is no semantic version`,
		"quay.io/proxy:{{.TAG}}":                               `cannot tell: tag "{{.TAG}}" is no semantic version`,
		"registry:5000/proxy@sha256:0123456789abcdef0123456789abcdef0123": "cannot tell: image by digest",
	} {
		got, reason := OfImage(image)
		if reason != "" {
			got += "cannot tell: " + reason
		}
		if got != want {
			t.Errorf("%s: %q, want %q", image, got, want)
		}
	}
}
