"""The chart: rendered with Go's templates and Sprig (helm_render/, as Debian has no helm), judged by the Kubernetes client's models,
by rules between the objects, and by `sluice check`. No cluster is asked, and helm itself is not run."""

import copy
import json
import os
import shutil
import subprocess

import jsonschema
import pytest
import yaml

from harness.router import BINARY
from promql import ROOT

CHART = ROOT / "deploy/helm/sluice"
SERVERS = {"primary": "db-rw.databases.svc", "replicas": [{"name": "r1", "host": "db-0.db"}, {"name": "r2", "host": "db-1.db"}]}
SMALL = {"config": {**SERVERS, "auth_user": "sluice_auth", "auth_password_file": "/secrets/auth.password"}, "existingSecret": "sluice"}
LARGE = {
    **SMALL,
    "replicaCount": 3,
    "image": {"repository": "registry.invalid/sluice", "tag": "1.2"},
    "imagePullSecrets": [{"name": "pull"}],
    "tlsSecret": "sluice-tls",
    "drainSeconds": 600,
    "preStopSeconds": 0,
    "service": {"type": "LoadBalancer", "port": 5432, "annotations": {"a/b": "true"}, "sessionAffinity": "None"},
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "prometheusRule": {"enabled": True, "labels": {"release": "prometheus"}},
    "podDisruptionBudget": {"maxUnavailable": "34%"},
    "podAnnotations": {"note": "1"},
    "podLabels": {"team": "data"},
    "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"key": "db", "operator": "Exists"}],
    "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}]}},
    "priorityClassName": "high",
    "spread": False,
}
SINGLE = {**SMALL, "replicaCount": 1}


@pytest.fixture(scope="module")
def renderer(tmp_path_factory):
    go = shutil.which("go")
    library = "/usr/share/gocode/src/github.com/Masterminds/sprig"
    if go is None or not os.path.isdir(library):
        pytest.skip("go or Sprig is not installed (golang-go, golang-github-masterminds-sprig-dev)")
    program = tmp_path_factory.mktemp("helm") / "render"
    cache = ROOT / "build/go-cache"
    environment = {**os.environ, "GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOCACHE": str(cache), "GOFLAGS": ""}
    done = subprocess.run([go, "build", "-o", program, ROOT / "tests/deploy/helm_render/render.go"], env=environment, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
    return program


def merged(base, changes):
    result = copy.deepcopy(base)
    for key, value in changes.items():
        result[key] = merged(result[key], value) if isinstance(value, dict) and isinstance(result.get(key), dict) else value
    return result


def values(changes):
    """Defaults and changes, judged by the chart's schema as Helm does before it renders."""
    made = merged(yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8")), changes)
    jsonschema.validate(made, json.loads((CHART / "values.schema.json").read_text(encoding="utf-8")))
    return made


def run(renderer, changes, release="prod"):
    return subprocess.run([renderer, CHART, release, "databases"], input=json.dumps(values(changes)), capture_output=True, text=True, timeout=30, check=False)


@pytest.fixture(scope="module")
def render(renderer):
    def rendered(changes, release="prod"):
        done = run(renderer, changes, release)
        assert done.returncode == 0, done.stderr
        texts = json.loads(done.stdout)
        notes = texts.pop("NOTES.txt")
        assert "<no value>" not in notes
        documents = [document for text in texts.values() for document in yaml.safe_load_all(text) if document]
        return {(document["kind"], document["metadata"]["name"]): document for document in documents}

    return rendered


@pytest.mark.parametrize("changes", [SMALL, LARGE, SINGLE], ids=["small", "large", "single"])
def test_objects_are_what_kubernetes_describes(render, changes):
    models = pytest.importorskip("kubernetes_models", reason="the Kubernetes client is not installed (python3-kubernetes)")
    for (kind, name), document in render(changes).items():
        assert document["metadata"]["namespace"] == "databases"
        if kind not in ("ServiceMonitor", "PrometheusRule"):
            assert not models.problems(document), (kind, name)


def test_the_models_find_what_is_wrong(render):
    models = pytest.importorskip("kubernetes_models", reason="the Kubernetes client is not installed (python3-kubernetes)")
    deployment = render(SMALL)["Deployment", "prod-sluice"]
    for change in (
        lambda d: d["spec"].update(replica=2),
        lambda d: d["spec"].update(replicas="2"),
        lambda d: d["spec"].pop("selector"),
        lambda d: d["spec"]["template"]["spec"]["containers"][0]["ports"][0].update(containerPort="6432"),
        lambda d: d["spec"]["template"]["spec"]["containers"][0].pop("name"),
    ):
        broken = copy.deepcopy(deployment)
        change(broken)
        assert models.problems(broken)


def test_which_objects_there_are(render):
    small = {("ConfigMap", "prod-sluice"), ("Deployment", "prod-sluice"), ("PodDisruptionBudget", "prod-sluice"), ("Service", "prod-sluice"), ("Service", "prod-sluice-admin")}
    assert set(render(SMALL)) == small
    assert set(render(LARGE)) == small | {("ServiceMonitor", "prod-sluice"), ("PrometheusRule", "prod-sluice")}
    assert set(render(SINGLE)) == small - {("PodDisruptionBudget", "prod-sluice")}, "a budget for one pod blocks every node's drain"
    assert ("Deployment", "my-sluice") in render(SMALL, release="my-sluice")


@pytest.mark.parametrize("changes", [SMALL, LARGE], ids=["small", "large"])
def test_selectors_ports_and_volumes_fit(render, changes):
    objects = render(changes)
    pod = objects["Deployment", "prod-sluice"]["spec"]["template"]
    labels = pod["metadata"]["labels"]

    def selects(selector):
        return selector and selector.items() <= labels.items()

    assert selects(objects["Deployment", "prod-sluice"]["spec"]["selector"]["matchLabels"])
    assert selects(objects["PodDisruptionBudget", "prod-sluice"]["spec"]["selector"]["matchLabels"])
    container = pod["spec"]["containers"][0]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    services = [document for (kind, _), document in objects.items() if kind == "Service"]
    for service in services:
        assert selects(service["spec"]["selector"])
        assert all(port["targetPort"] in ports for port in service["spec"]["ports"])
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["port"] in ports
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["spec"]["volumes"]}
    monitor = objects.get(("ServiceMonitor", "prod-sluice"))
    if monitor:
        chosen = [s for s in services if monitor["spec"]["selector"]["matchLabels"].items() <= s["metadata"]["labels"].items()]
        assert [s["metadata"]["name"] for s in chosen] == ["prod-sluice-admin"]
        assert monitor["spec"]["endpoints"][0]["port"] in [port["name"] for port in chosen[0]["spec"]["ports"]]


def test_liveness_asks_for_the_process_and_readiness_for_its_work(render):
    container = render(SMALL)["Deployment", "prod-sluice"]["spec"]["template"]["spec"]["containers"][0]
    assert container["livenessProbe"]["httpGet"]["path"] == container["startupProbe"]["httpGet"]["path"] == "/healthz"
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"


@pytest.mark.parametrize("changes", [SMALL, LARGE], ids=["small", "large"])
def test_sessions_have_the_time_to_end(render, changes):
    objects = render(changes)
    spec = objects["Deployment", "prod-sluice"]["spec"]["template"]["spec"]
    config = yaml.safe_load(objects["ConfigMap", "prod-sluice"]["data"]["sluice.yaml"])
    drain = int(config["drain_timeout"].removesuffix("s"))
    hook = spec["containers"][0].get("lifecycle")
    wait = int(hook["preStop"]["exec"]["command"][1]) if hook else 0
    assert spec["terminationGracePeriodSeconds"] >= wait + drain + 10
    assert objects["Deployment", "prod-sluice"]["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0


def test_pods_have_no_privileges(render):
    spec = render(SMALL)["Deployment", "prod-sluice"]["spec"]["template"]["spec"]
    assert spec["securityContext"]["runAsNonRoot"] and spec["securityContext"]["runAsUser"] == 6432
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    own = spec["containers"][0]["securityContext"]
    assert own["allowPrivilegeEscalation"] is False and own["readOnlyRootFilesystem"] is True and own["capabilities"] == {"drop": ["ALL"]}
    assert spec["automountServiceAccountToken"] is False


def test_a_changed_configuration_makes_new_pods(render):
    def checksum(changes):
        return render(changes)["Deployment", "prod-sluice"]["spec"]["template"]["metadata"]["annotations"]["checksum/config"]

    assert checksum(SMALL) == checksum(SMALL)
    assert checksum(SMALL) != checksum(merged(SMALL, {"config": {"log_level": "debug"}}))


@pytest.mark.parametrize("changes", [SMALL, LARGE], ids=["small", "large"])
def test_the_router_accepts_the_configuration(render, tmp_path, changes):
    text = render(changes)["ConfigMap", "prod-sluice"]["data"]["sluice.yaml"]
    (tmp_path / "auth.password").write_text("secret\n", encoding="utf-8")
    (tmp_path / "auth.password").chmod(0o400)
    (tmp_path / "sluice.yaml").write_text(text.replace("/secrets/", f"{tmp_path}/"), encoding="utf-8")
    done = subprocess.run([BINARY, "check", "-c", tmp_path / "sluice.yaml"], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_alert_rules_come_along_unchanged(render):
    rule = render(LARGE)["PrometheusRule", "prod-sluice"]
    assert rule["spec"] == yaml.safe_load((ROOT / "deploy/prometheus/sluice.rules.yaml").read_text(encoding="utf-8"))


def test_what_cannot_work_is_refused(renderer):
    done = run(renderer, {"existingSecret": "sluice"})
    assert done.returncode != 0 and "name the servers" in done.stderr
    for wrong in ({"replicaCount": 0}, {"replicas": 3}, {"config": {"listen_port": 5432}}, {"service": {"type": "External"}}):
        with pytest.raises(jsonschema.ValidationError):
            values(wrong)


def test_no_object_carries_a_password(render):
    objects = render(LARGE)
    assert not any(kind == "Secret" for kind, _ in objects)
    volumes = objects["Deployment", "prod-sluice"]["spec"]["template"]["spec"]["volumes"]
    assert {volume["secret"]["secretName"] for volume in volumes if "secret" in volume} == {"sluice", "sluice-tls"}
