"""The ways into samedevice: the command line (cli, run, program), IPython and pytest.

Each asks the rooms below for what it shows. Nothing imports a door, and no door is loaded before somebody comes through
it, since `import samedevice` must stay light. copies counts copies between devices for `samedevice run --summary`;
pytest_causes and doctests are what the pytest plugin shows of failed tests and of failed examples in docstrings.
"""
