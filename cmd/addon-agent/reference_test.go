package main

import (
	"testing"

	"open-cluster-management.io/interlock/test/cmdlinetest"
)

func TestFlagsAreDocumented(t *testing.T) {
	cmdlinetest.FlagsAreDocumented(t, newCommand().Flags(), "../../docs/reference.md", "Flags of addon-agent")
}
