package guard

import (
	"testing"

	"open-cluster-management.io/interlock/test/guardpolicy"
)

func TestBothFormsHaveTheSameRule(t *testing.T) { guardpolicy.SameRule(t, &Rule) }
