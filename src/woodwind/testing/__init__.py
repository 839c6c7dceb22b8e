"""What tests of Woodwind and of its plugins need: repository builder, private sandbox, rehearsal agent."""
