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
    /// `trust` is a policy, or the path of a policy file; paths count from the file's own folder. Without `current` the
    /// first one is in force.
    ///
    /// - Parameters:
    ///   - path: The file; at most 1 MiB.
    ///   - current: The name of the one in force, instead of the file's.
    /// - Throws: `file` when a file cannot be read, `invalidRequest` or `invalidPolicy` with the line of what is wrong.
    public convenience init(contentsOfFile path: String, current: String? = nil) throws(RequestFailure) {
        let file = try EnvironmentFile(path: path)
        try self.init(file.environments, current: current ?? file.current)
    }
}
