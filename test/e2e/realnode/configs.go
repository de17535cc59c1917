//go:build linux

package main

import (
	"embed"
	"fmt"
	"os"
	"text/template"
)

const containerdSocket = "/run/containerd/containerd.sock"

//go:embed configs/*
var configs embed.FS

// configFiles are templates over spec, with the paths of the results.
func configFiles(s spec) map[string]string {
	return map[string]string{
		"containerd.toml": s.file("containerd.toml"),
		"kubelet.yaml":    s.file("kubelet.yaml"),
		"bridge.conflist": "/run/cni/net.d/10-bridge.conflist",
	}
}

func writeConfigs(s spec) error {
	templates, err := template.ParseFS(configs, "configs/*")
	if err != nil {
		return err
	}
	if err := os.MkdirAll("/run/cni/net.d", 0o755); err != nil {
		return err
	}
	for name, path := range configFiles(s) {
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		if err := templates.ExecuteTemplate(file, name, s); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
		if err := file.Close(); err != nil {
			return err
		}
	}
	return nil
}
