/// A script that the server executes as a whole. It is sent by its hash, and with its text if the server does not know it.
struct RedisScript: Sendable {
    let text: String
    /// The SHA-1 hash of the text in hexadecimal digits, by which the server knows it.
    let hash: String

    /// Stores the list of responses of a key, if nobody has changed it or its epoch.
    ///
    /// Keys: the epoch, the list, and possibly a body. Arguments: the epoch, the tag of the list that is replaced (empty if
    /// there is none), the new list, how long it is kept in milliseconds, and the body unless it is there already.
    ///
    /// It returns 1 if it is stored, 0 if the epoch is another one or the body is gone, and -1 if the list is another one.
    static let commit = RedisScript(
        text: """
            if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
            local list, tag = redis.call('GET', KEYS[2]), ''
            if list then tag = string.sub(list, 10, 17) end
            if tag ~= ARGV[2] then return -1 end
            if KEYS[3] then
              if ARGV[5] then redis.call('SET', KEYS[3], ARGV[5], 'PX', ARGV[4])
              elseif redis.call('PEXPIRE', KEYS[3], ARGV[4]) == 0 then return 0 end
            end
            redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[4])
            return 1
            """,
        hash: "51e0617467dd6037df3789cdcc180ac3d3498a84")

    /// Deletes a key that still has a value.
    ///
    /// Key: the key. Argument: the value. It returns the number of deleted keys.
    static let release = RedisScript(
        text: """
            if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
            return 0
            """,
        hash: "7f8f6677b8f2b4b65b9b9905151ced126e6b7e49")

    static let all = [commit, release]

    fileprivate func command(
        _ name: RedisCommand.Argument, _ script: String, _ keys: [String], _ arguments: [RedisCommand.Argument]
    ) -> RedisCommand {
        RedisCommand([name, .text(script), .number(keys.count)] + keys.map { .text($0) } + arguments)
    }
}

extension RedisClient {
    /// Runs a script.
    ///
    /// - Returns: The number that it returns; `nil` if there is no reply.
    func run(_ script: RedisScript, _ keys: [String], _ arguments: [RedisCommand.Argument]) async -> Int64? {
        var reply = await write([script.command("EVALSHA", script.hash, keys, arguments)]).first
        if case .failure(.refused(let error)) = reply, error.code == "NOSCRIPT" {
            reply = await write([script.command("EVAL", script.text, keys, arguments)]).first
        }
        if case .success(.integer(let number)) = reply { return number }
        return nil
    }
}
