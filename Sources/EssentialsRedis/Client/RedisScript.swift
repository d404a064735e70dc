/// A script that the server executes as a whole. It is sent by its hash, and with its text if the server does not know it.
struct RedisScript: Sendable {
    let text: String
    /// The SHA-1 hash of the text in hexadecimal digits, by which the server knows it.
    let hash: String

    /// Stores the list of responses of a key, if nothing that concerns it was removed and nobody else has changed it.
    ///
    /// Keys: the list, the numbers that removals change, the body of the new response if it is a value of its own, and bodies
    /// that are not needed any more. Arguments: the tag of the list that is replaced (empty if there is none), the new list, how
    /// long it is kept in milliseconds, how many numbers there are, their values, `none`, `new` or `kept` for the body, and the
    /// new body.
    ///
    /// It returns 1 if it is stored, 0 if something was removed or the kept body is gone, and -1 if the list is another one.
    static let commit = RedisScript(
        text: """
            local n = tonumber(ARGV[4])
            for i = 1, n do
              if redis.call('GET', KEYS[1 + i]) ~= ARGV[4 + i] then return 0 end
            end
            local list, tag = redis.call('GET', KEYS[1]), ''
            if list then tag = string.sub(list, 10, 17) end
            if tag ~= ARGV[1] then return -1 end
            local mode, old = ARGV[5 + n], 3 + n
            if mode == 'new' then redis.call('SET', KEYS[2 + n], ARGV[6 + n], 'PX', ARGV[3])
            elseif mode == 'none' then old = 2 + n
            elseif redis.call('PEXPIRE', KEYS[2 + n], ARGV[3]) == 0 then return 0 end
            redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
            for i = old, #KEYS do redis.call('DEL', KEYS[i]) end
            return 1
            """,
        hash: "be26c5494dd6093e8ccd9a62338ad713562670c7")

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
