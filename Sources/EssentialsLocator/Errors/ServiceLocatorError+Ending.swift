#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension ServiceLocatorError {
    /// Ends the process with the error's text: for members that promise a service and cannot throw.
    ///
    /// The one place of the module that does. Printed in every build configuration.
    func endProcess(_ use: String) -> Never { fatalError("\(self) \(use).") }

    /// Writes the error's text on standard error, as a line: for what is most likely wrong where nothing fails.
    ///
    /// The one place of the module that does. Written in every build configuration; what cannot be written is lost.
    func warn() {
        var line = "warning: \(self)\n"
        // In one piece, so that other threads' lines do not come between.
        _ = line.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
