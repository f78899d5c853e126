"""Eight threads at one time: what they do, as a library has it and as a script under the launcher."""
