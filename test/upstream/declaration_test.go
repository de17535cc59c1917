package upstream

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

const declared = interlock + "/pkg/apis/addon/v1alpha1"

// sameDeclaration compares the types of the patches with Interlock's types. A declaration that OCM's field accepts
// has the same meaning for Interlock. Interlock's types have further fields and values.
func sameDeclaration(t *testing.T, source *Patched) {
	t.Helper()
	types := "types_clustermanagementaddon.go"
	reasons := "types_managedclusteraddon.go"
	interlocks := declarations(t,
		filepath.Join(declared, "clustermanagementaddon_types.go"), filepath.Join(declared, "managedclusteraddon_types.go"))
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		folder := filepath.Join(source.Module("api"), "addon", version)
		count := 0
		for name, text := range declarations(t, filepath.Join(folder, types), filepath.Join(folder, reasons)) {
			if !strings.Contains(name, "Dependenc") {
				continue
			}
			count++
			if interlocks[name] != text {
				t.Errorf("%s of addon/%s is\n%s\nin the patches, and in Interlock\n%s", name, version, text, interlocks[name])
			}
		}
		// The field, its type's three fields, two types and two reasons.
		if count != 8 {
			t.Errorf("addon/%s has %d declarations of dependencies, expected 8", version, count)
		}
	}
}

// declarations returns fields of structs with their types and tags, and constants with their values, by name.
func declarations(t *testing.T, paths ...string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.TypeSpec:
				fields(node, texts)
			case *ast.ValueSpec:
				for i, name := range node.Names {
					if value, ok := node.Values[i].(*ast.BasicLit); ok {
						texts[name.Name] = value.Value
					}
				}
			}
			return true
		})
	}
	return texts
}

func fields(spec *ast.TypeSpec, texts map[string]string) {
	structure, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, field := range structure.Fields.List {
		if len(field.Names) == 1 && field.Tag != nil {
			texts[spec.Name.Name+"."+field.Names[0].Name] = typeName(field.Type) + " " + field.Tag.Value
		}
	}
}

func typeName(expression ast.Expr) string {
	switch expression := expression.(type) {
	case *ast.Ident:
		return expression.Name
	case *ast.ArrayType:
		return "[]" + typeName(expression.Elt)
	}
	return ""
}
