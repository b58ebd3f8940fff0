# Every command makes its environment when it is missing and installs what it needs, once; nothing has to be run before it.
#   .venv          everything for every day, and for a release
#   .venv-torch-N  PyTorch's CUDA build of release N: test-torch, test-errors, record (several GB)
#   .venv-clients  other people's libraries: test-clients, test-suites
#   .venv-colab    Colab's versions: test-colab (several GB)
# On Linux without a GPU, PyTorch's smaller CPU build: PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu make test

PYTHON = python3
# Of torch, for .venv-torch-N: as tested otherwise, unless named.
VERSION = $(shell sed -n 's/^torch==//p' constraints.txt)
# Quiet: what goes wrong is said all the same, in pip's own words.
PIP_INSTALL = -m pip install -q
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# A file of tests is one process's, since its tests share what is slow to make. The files with most tests begin.
SIDE_BY_SIDE = -n 2 --dist loadfile
# The tests start some 200 processes: what they import is compiled once, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE
# Silences a notice about MkDocs 2, which constraints.txt keeps out.
export NO_MKDOCS_2_WARNING = 1

# A Python named on the command line is not to be ignored because .venv stands already.
ifeq ($(origin PYTHON)$(wildcard .venv/bin/python),command line.venv/bin/python)
ifeq ($(shell command -v $(PYTHON)),)
$(error $(PYTHON) is missing: install Python 3.11 or newer, or name yours: make PYTHON=python3.12 test)
endif
ifneq ($(shell $(PYTHON) --version 2>&1),$(shell .venv/bin/python --version))
$(error .venv holds $(shell .venv/bin/python --version). To use $(PYTHON), remove it first: rm -r .venv)
endif
endif

.DELETE_ON_ERROR:
# Reached through two patterns, it would be removed as a mere step on the way.
.PRECIOUS: %/bin/pip
.PHONY: help site test test-rest test-weekly check build install notebooks test-gpu verify test-errors test-colab test-torch test-clients test-suites test-mutation doctor test-robustness comparison bench record pictures wheel test-wheel test-dist repository

help: ## say what the commands for every day do
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' Makefile
	@echo "Those for keepers, most of which CI runs, are in MAINTAINING.md."

site: .venv/.site ## build the site and serve it on http://127.0.0.1:8000, rebuilt as you edit
	@.venv/bin/python -c 'import socket; socket.create_server(("127.0.0.1", 8000)).close()' 2>/dev/null || { echo "Port 8000 is taken: stop what uses it (another make site?), then try again." >&2; exit 2; }
	@echo "The site will be on http://127.0.0.1:8000 (Ctrl+C stops it)."
	@.venv/bin/mkdocs serve --dev-addr 127.0.0.1:8000

# Where a machine is so busy that mypy's workers do not begin within three seconds, mypy ends with 2: then without them.
test: .venv/.everything ## lint, types, imports, unit tests, every cell of every notebook: what to run after a change (CI runs test and test-rest)
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy || { [ $$? = 2 ] && .venv/bin/mypy --num-workers 0; }
	PYTHONPATH=tools .venv/bin/lint-imports --no-logo --no-cache
	.venv/bin/pytest --nbval $(SIDE_BY_SIDE)

test-rest: .venv/.everything ## the built site in a browser, the guards' own guards, packaging, the commands: what `make test` leaves out
	.venv/bin/pytest -m "slow and not weekly" $(SIDE_BY_SIDE)

test-weekly: .venv/.everything # long replays of the recordings, and more random lines
	.venv/bin/pytest -m weekly $(SIDE_BY_SIDE)

check: .venv/.everything ## one lesson: execute and store it, compare it, test its form: make check NB=notebooks/01-two-tensors.ipynb
	@.venv/bin/python tools/check_lesson.py $(NB)

build: .venv/.site ## build the site into site/
	.venv/bin/mkdocs build --strict

install: .venv/.everything # install everything into .venv, run nothing
	@echo "Everything is in .venv."

notebooks: .venv/.everything ## execute the notebooks and store their outputs (one only: NB=notebooks/01-two-tensors.ipynb)
	@.venv/bin/python tools/notebooks.py $(NB)

test-gpu: .venv/.everything ## run the notebooks on this machine's GPUs and write results/gpu.json
	@.venv/bin/python tools/verify.py real

verify: .venv/.everything ## run the notebooks on simulated GPUs and write results/simulated.json
	@.venv/bin/python tools/verify.py simulated

test-errors: .venv-torch-$(VERSION)/.everything # each error of the lessons against PyTorch's CUDA build, and samedevice run --gpus real on it (no GPU needed)
	@tools/record/record.sh .venv-torch-$(VERSION)/bin/python -m record.lessons
	@tools/record/record.sh .venv-torch-$(VERSION)/bin/python -m pytest tests/command_line/test_on_cuda.py
	@tools/record/record.sh .venv-torch-$(VERSION)/bin/python -m pytest -m slow tests/maintenance/test_gpu_job.py

test-colab: .venv/.everything .venv-colab/.everything # the lessons as Colab runs them, with its versions
	@.venv/bin/python tools/colab.py

test-torch: .venv-torch-$(VERSION)/.everything # simulation and notebooks on PyTorch's CUDA build, or another's: make test-torch VERSION=2.15.0
	SAMEDEVICE_GPUS=simulated .venv-torch-$(VERSION)/bin/pytest --nbval tests/simulation tests/conformance notebooks $(SIDE_BY_SIDE)

test-clients: .venv-clients/.everything # transformers, accelerate, Lightning and others on simulated GPUs
	.venv-clients/bin/pytest -c tests/clients/pytest.ini tests/clients

test-suites: .venv-clients/.everything # public packages' own test suites on a simulated GPU; writes results/suites.json
	@.venv-clients/bin/python tools/suites.py

test-mutation: .venv/.everything # break fixes and messages of the lessons on purpose: a test must be red each time; writes results/mutation.json (one lesson: NB=...)
	@.venv/bin/python tools/mutation.py $(NB)

doctor: .venv/.everything # how often the doctor is right, live and of pastes; writes results/doctor.json, fix.json, pastes.json and lines.json
	@.venv/bin/python tools/real_programs.py
	@.venv/bin/python tools/fix_programs.py
	@.venv/bin/python tools/pasted_programs.py
	@.venv/bin/python tools/random_lines.py --count 10000 --seed 20261130 --write

test-robustness: .venv/.everything # 10,000 random programs on simulated GPUs, and 20,000 steps of training; writes results/robustness.json
	@OMP_NUM_THREADS=1 .venv/bin/python tools/robustness.py

comparison: .venv/.everything # what else makes device errors show without a GPU, asked the same questions; writes results/comparison.json
	@PYTHONPATH=tools .venv/bin/python -W ignore -m comparison

bench: .venv/.everything # what a simulated GPU costs beside plain CPU tensors; writes results/bench.json (a minute)
	@OMP_NUM_THREADS=1 .venv/bin/python tools/bench.py

record: .venv-torch-$(VERSION)/.everything # ask PyTorch's CUDA build what the simulation must answer (no GPU needed)
	tools/record/record.sh .venv-torch-$(VERSION)/bin/python

pictures: .venv/.everything # make the README's pictures of what really runs, and the one beside links from card.svg (in Chromium)
	@.venv/bin/python tools/pictures.py

wheel: .venv/.everything # build the wheel and the source distribution into dist/
	@rm -rf dist
	@.venv/bin/hatchling build
	@.venv/bin/twine check --strict dist/*

test-wheel: wheel # build, install what was built into an empty environment elsewhere, and run it there (minutes; PyTorch is the large part)
	@.venv/bin/pytest -c tests/wheel/pytest.ini tests/wheel

test-dist: .venv/.everything # the same with the wheel that is in dist/ already: a release tests the very file that it publishes
	@.venv/bin/pytest -c tests/wheel/pytest.ini tests/wheel

repository: .venv/bin/pip ## once, before the first push: make repository URL=https://github.com/OWNER/NAME (a fork needs no such thing)
	@.venv/bin/python tools/repository.py $(URL)

# Stamps: a command repeated installs nothing until these files change.
.venv/.site: pyproject.toml constraints.txt | .venv/bin/pip
	@echo "Installing what the site needs into .venv (once; pip is silent for about a minute)."
	@.venv/bin/python $(PIP_INSTALL) -c constraints.txt -e '.[site]'
	@touch $@

.venv/.everything: pyproject.toml constraints.txt | .venv/bin/pip
	@echo "Installing everything into .venv (once; pip is silent for a minute or more; PyTorch is the large part)."
	@.venv/bin/python $(PIP_INSTALL) -c constraints.txt -e '.[test]'
	@touch $@ .venv/.site

# On Linux the CUDA build is the one without an ending, which two equals signs would take for the same as 2.15.0+cpu. So
# there are three, and no second index. VERSION wins over the pins of torch, and of setuptools, of which some versions of
# torch want an older one.
.venv-torch-%/.everything: pyproject.toml constraints.txt | .venv-torch-%/bin/pip
	@echo "Installing torch $* and what the tests need into .venv-torch-$* (once; several GB, and pip is silent meanwhile)."
	@grep -vE '^(torch|setuptools)==' constraints.txt > .venv-torch-$*/constraints.txt
	@env -u PIP_EXTRA_INDEX_URL .venv-torch-$*/bin/python $(PIP_INSTALL) -c .venv-torch-$*/constraints.txt 'torch===$*' -e '.[test]'
	@touch $@

.venv-clients/.everything: pyproject.toml constraints.txt tests/clients/requirements.txt | .venv-clients/bin/pip
	@echo "Installing other people's libraries into .venv-clients (once; pip is silent for a minute or more)."
	@.venv-clients/bin/python $(PIP_INSTALL) -c constraints.txt -e '.[torch]' -r tests/clients/requirements.txt
	@touch $@

# Colab has Python 3.13: taken where there is one.
.venv-colab/bin/pip: PYTHON = $(shell python3.13 --version >/dev/null 2>&1 && echo python3.13 || echo python3)
.venv-colab/.everything: tests/colab/requirements.txt | .venv-colab/bin/pip
	@echo "Installing Colab's versions into .venv-colab (once; several GB, and pip is silent meanwhile)."
	@env -u PIP_EXTRA_INDEX_URL .venv-colab/bin/python $(PIP_INSTALL) -r tests/colab/requirements.txt
	@.venv-colab/bin/python -c 'import torch, sys; sys.exit(not torch.version.cuda and "pip found no CUDA build of torch: PyTorch has one for Linux only, or pip.conf names an index with the CPU build.")'
	@touch $@

# pip is the last thing that venv installs: where it is, the environment is whole.
%/bin/pip:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is missing: install Python 3.11 or newer, or name yours: make PYTHON=python3.12 ..." >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$$($(PYTHON) --version) is too old: install Python 3.11 or newer, or name yours: make PYTHON=python3.12 ..." >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make virtual environments: install its venv package (on Debian and Ubuntu: apt install python3-venv)." >&2; exit 2; }
	@echo "Making $* with $$($(PYTHON) --version)."
	@$(PYTHON) -m venv --clear $*
