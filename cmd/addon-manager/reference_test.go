package main

import (
	"testing"

	"open-cluster-management.io/interlock/test/cmdlinetest"
)

func TestFlagsAreDocumented(t *testing.T) {
	cmdlinetest.FlagsAreDocumented(t, newCommand().Flags(), "../../docs/reference.md", "Flags of addon-manager")
}

func TestFlagsOfTheWebhookAreDocumented(t *testing.T) {
	cmdlinetest.FlagsAreDocumented(t, newWebhookCommand().Flags(), "../../docs/reference.md", "Flags of addon-manager webhook")
}

func TestFlagsOfTheConsoleAreDocumented(t *testing.T) {
	cmdlinetest.FlagsAreDocumented(t, newConsoleCommand().Flags(), "../../docs/reference.md", "Flags of addon-manager console")
}

func TestFlagsOfTheSmokeTestAreDocumented(t *testing.T) {
	cmdlinetest.FlagsAreDocumented(t, newSmokeTestCommand().Flags(), "../../docs/reference.md", "Flags of addon-manager smoke-test")
}

func TestFlagsOfTheUninstallationAreDocumented(t *testing.T) {
	cmdlinetest.FlagsAreDocumented(t, newUninstallCommand().Flags(), "../../docs/reference.md", "Flags of addon-manager uninstall")
}
