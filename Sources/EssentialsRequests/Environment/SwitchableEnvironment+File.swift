public import EssentialsHTTP

extension SwitchableEnvironment {
    /// Reads the environments from a JSON file.
    ///
    /// ```json
    /// {
    ///     "current": "staging",
    ///     "environments": {
    ///         "production": {"baseURL": "https://api.example.com/v1/", "trust": "production-pins.json"},
    ///         "staging": {"baseURL": "https://staging.example.com/v1/", "headers": {"X-Stage": "yes"}}
    ///     }
    /// }
    /// ```
    ///
    /// `trust` is a policy or the path of a policy file. Paths are relative to the folder of this file. Without
    /// `current`, the first environment is selected.
    ///
    /// - Parameters:
    ///   - path: The path of the file, which may have at most 1 MiB.
    ///   - current: The name of the environment to select. The default is `nil`, which means the choice of the file.
    /// - Throws: `file` if a file cannot be read; `invalidRequest` or `invalidPolicy` with the line of the error.
    public convenience init(contentsOfFile path: String, current: String? = nil) throws(RequestFailure) {
        let file = try EnvironmentFile(path: path)
        try self.init(file.environments, current: current ?? file.current)
    }
}
