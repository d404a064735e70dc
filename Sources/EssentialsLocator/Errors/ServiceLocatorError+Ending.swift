import EssentialsTools

// The only code of this module that writes on standard error or ends the process. It does so in every build
// configuration.
extension ServiceLocatorError {
    /// Ends the process with the error's text, for members that return a service and cannot throw.
    func endProcess(_ use: String) -> Never {
        Self.print("Fatal error: \(self) \(use).")
        abort()
    }

    /// Prints the error's text as a warning on standard error. Ignores failures to write.
    ///
    /// This is what a locator does with warnings unless it, or a parent, was created with another receiver.
    func printWarning() { Self.print("warning: \(self)") }

    private static func print(_ text: String) {
        var line = text + "\n"
        // One call, so that lines of other threads do not come between.
        _ = line.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
