extension ServiceLocatorError {
    /// Ends the process with the error's text: for members that promise a service and cannot throw.
    ///
    /// The one place of the module that does. Printed in every build configuration.
    func endProcess(_ use: String) -> Never { fatalError("\(self) \(use).") }
}
