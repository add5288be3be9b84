"""Runs a command and writes the largest resident size of it and its children, in kilobytes, to a file."""
import resource
import subprocess
import sys

status = subprocess.run(sys.argv[2:]).returncode
with open(sys.argv[1], 'w') as file:
    file.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(status)
