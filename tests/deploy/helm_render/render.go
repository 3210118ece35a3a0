// Renders a Helm chart: Go's templates with the Sprig functions, which are what Helm is made of, and the functions that Helm
// adds. For tests: Debian 12 has no helm. What is missing (lookup, hooks, dependencies, .Capabilities) the chart does not use, and an
// unknown function is an error here as there.
//
//	render CHART RELEASE NAMESPACE < values.json        values: defaults and changes merged
//
// Prints a JSON object: file name -> text.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

type files struct{ root string }

func (f files) Get(name string) string {
	text, err := os.ReadFile(filepath.Join(f.root, name))
	if err != nil {
		return ""
	}
	return string(text)
}

func toYaml(value interface{}) string {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(value); err != nil {
		return ""
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func functions(t *template.Template) template.FuncMap {
	all := sprig.TxtFuncMap()
	delete(all, "env")
	delete(all, "expandenv")
	all["toYaml"] = toYaml
	all["fail"] = func(message string) (string, error) { return "", errors.New(message) }
	all["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, errors.New(message)
		}
		return value, nil
	}
	all["include"] = func(name string, data interface{}) (string, error) {
		var out strings.Builder
		err := t.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	return all
}

func render(chart, release, namespace string) (map[string]string, error) {
	// As Helm does, through JSON: every number is a float64.
	var values map[string]interface{}
	if err := json.NewDecoder(os.Stdin).Decode(&values); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(chart, "Chart.yaml"))
	if err != nil {
		return nil, err
	}
	var about map[string]interface{}
	if err := yaml.Unmarshal(text, &about); err != nil {
		return nil, err
	}
	titled := map[string]interface{}{}
	for key, value := range about {
		titled[strings.ToUpper(key[:1])+key[1:]] = value
	}

	t := template.New("chart").Option("missingkey=zero")
	t.Funcs(functions(t))
	names, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if _, err := t.New(filepath.Base(name)).Parse(string(text)); err != nil {
			return nil, err
		}
	}
	data := map[string]interface{}{
		"Values":  values,
		"Chart":   titled,
		"Release": map[string]interface{}{"Name": release, "Namespace": namespace, "Service": "Helm", "IsInstall": true, "Revision": 1},
		"Files":   files{chart},
	}
	rendered := map[string]string{}
	for _, name := range names {
		base := filepath.Base(name)
		if strings.HasPrefix(base, "_") {
			continue
		}
		var out strings.Builder
		if err := t.ExecuteTemplate(&out, base, data); err != nil {
			return nil, err
		}
		// As Helm does: what a missing key prints.
		rendered[base] = strings.ReplaceAll(out.String(), "<no value>", "")
	}
	return rendered, nil
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: render CHART RELEASE NAMESPACE < values.json")
		os.Exit(2)
	}
	rendered, err := render(os.Args[1], os.Args[2], os.Args[3])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(rendered)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}
