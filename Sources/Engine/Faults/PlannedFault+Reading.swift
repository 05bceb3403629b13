public import Encoding
import HTTP
public import SignIn

/// Reading faults: the short text of the command line, and the JSON of the control API.
extension PlannedFault {
    /// Reads a fault at a call of a sign-in, or at something the phone does by itself.
    ///
    /// Throws `.invalid` naming the part that is wrong and what is allowed there.
    public init(text: String) throws(EngineError) { try self.init(text: text, among: Call.Purpose.ofSignIn) }

    /// Reads `KIND:CALL` or `KIND:CALL:TIMES`, such as `lose-reply:token` or `status-503:completion:2`, for one of the
    /// calls given, nil for all there are, or for something the phone does by itself.
    ///
    /// Throws `.invalid` naming the part that is wrong and what is allowed there.
    public init(text: String, among calls: [Call.Purpose]?) throws(EngineError) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard (2...3).contains(parts.count) else {
            throw .invalid(field: "faults", rule: "a fault is KIND:CALL or KIND:CALL:TIMES", value: text)
        }
        let point = try Self.point(parts[1], among: calls)
        guard let times = Int(parts.count == 3 ? parts[2] : "1"), (1...100).contains(times) else {
            throw .invalid(field: "faults", rule: "TIMES is 1 to 100", value: parts[2])
        }
        let kind = try Kind(word: parts[0], at: point)
        self.init(id: text, kind: kind, at: Place(point: point), times: times)
    }

    /// Reads one entry of a request: a short text, or an object with `on`, `do`, and `times` or `probability`.
    ///
    /// `calls` are the calls it may be about; nil for all there are. Throws `.invalid` naming the field, the rule and the
    /// nearest known word.
    public init(_ json: JSON, named id: String, among calls: [Call.Purpose]? = nil) throws(EngineError) {
        if let text = json.string {
            try self.init(text: text, among: calls)
            return
        }
        let fields = try Fields(json, "faults", ["id", "on", "do", "times", "probability"])
        let place = try Self.place(fields.value("on"), among: calls)
        guard let deed = fields.value("do") else {
            throw .invalid(field: "faults", rule: "a fault needs 'do': what happens", value: json.text)
        }
        let kind = try Kind(deed, at: place.point)
        let probability = try fields.fraction("probability")
        guard probability == nil || fields.value("times") == nil else {
            throw .invalid(field: "faults", rule: "either 'times' or 'probability'", value: json.text)
        }
        self.init(
            id: try fields.text("id") ?? id, kind: kind, at: place,
            times: try fields.number("times", in: 1...10_000) ?? 1, probability: probability)
    }

    private static func place(_ json: JSON?, among calls: [Call.Purpose]?) throws(EngineError) -> Place {
        guard let json else { return Place() }
        let fields = try Fields(json, "on", ["system", "call", "attempt", "device", "install"])
        var place = Place()
        place.system = try fields.text("system")
        if let system = place.system, !systems.contains(system) {
            throw .invalid(
                field: "faults",
                rule: "the system is one of \(systems.joined(separator: ", "))\(hint(system, systems))",
                value: system)
        }
        place.attempt = try fields.number("attempt", in: 1...1000)
        place.device = try fields.text("device")
        place.install = try fields.text("install")
        if let call = try fields.text("call") { place.point = try point(call, among: calls) }
        return place
    }

    private static func point(_ name: String, among calls: [Call.Purpose]?) throws(EngineError) -> FaultPoint {
        let known = FaultPoint.all.filter { point in
            guard let calls, point.isNetwork else { return true }
            if case .call(let purpose) = point { return calls.contains(purpose) }
            // A sign-in finds its metadata as well; the rest are calls of their own.
            return point == .discovery && calls.contains(.token)
        }
        guard let point = known.first(where: { $0.name == name }) else {
            let names = known.map(\.name)
            throw .invalid(
                field: "faults", rule: "the call is one of \(names.joined(separator: ", "))\(hint(name, names))",
                value: name)
        }
        return point
    }

    /// The systems a flow can speak.
    private static let systems = ["sensecrypt", "oauth"]

    fileprivate static func hint(_ word: String, _ words: [String]) -> String {
        Nearest.match(word, among: words).map { "; the nearest is \($0)" } ?? ""
    }
}

extension PlannedFault.Kind {
    /// Reads a word such as `drop`, `status-503`, `delay-250` or `wrong-typ-jwt`.
    init(word: String, at point: FaultPoint?) throws(EngineError) {
        self = try Self.named(word, at: point)
        try self.check(at: point, word)
    }

    /// Reads a word, or an object such as `{"status": 503, "body": "…"}`.
    init(_ json: JSON, at point: FaultPoint?) throws(EngineError) {
        if let word = json.string {
            try self.init(word: word, at: point)
            return
        }
        let fields = try Fields(
            json, "do",
            ["status", "body", "retry_after", "headers", "delay", "dribble", "pause", "wrong", "relaunch"])
        try fields.standTogether()
        if let status = try fields.number("status", in: 200...599) {
            let body = try fields.text("body") ?? fields.value("body").map(\.text)
            let retryAfter = try fields.number("retry_after", in: 0...86_400)
            var answer = PlannedAnswer(status: status, body: body, retryAfter: retryAfter)
            answer.headers = try fields.pairs("headers")
            self = .answer(answer)
        } else if let milliseconds = try fields.number("delay", in: 0...600_000) {
            self = .delay(milliseconds: milliseconds)
        } else if let bytes = try fields.number("dribble", in: 1...65_536) {
            self = .dribble(bytes: bytes, milliseconds: try fields.number("pause", in: 0...10_000) ?? 1)
        } else if let wrong = try fields.text("wrong") {
            self = .wrong(try .checked(wrong, at: point?.placeOfWrongs ?? ""))
        } else if let relaunch = try fields.flag("relaunch") {
            self = .crash(relaunch: relaunch)
        } else {
            throw .invalid(
                field: "faults", rule: "'do' is a word, or an object with status, delay, dribble, wrong or relaunch",
                value: json.text)
        }
        try self.check(at: point, json.text)
    }

    private func check(at point: FaultPoint?, _ value: String) throws(EngineError) {
        guard let point, let objection = objection(at: point) else { return }
        throw .invalid(field: "faults", rule: "'\(name)' cannot be at \(point.name): \(objection)", value: value)
    }

    private static func named(_ word: String, at point: FaultPoint?) throws(EngineError) -> Self {
        if word.hasPrefix("wrong-") {
            return .wrong(try .checked(String(word.dropFirst(6)), at: point?.placeOfWrongs ?? ""))
        }
        if let status = number(behind: "status-", in: word, 200...599) { return .answer(PlannedAnswer(status: status)) }
        if let delay = number(behind: "delay-", in: word, 0...600_000) { return .delay(milliseconds: delay) }
        switch word {
        case "drop": return .drop
        case "lose-reply": return .loseReply
        case "reset": return .reset
        case "truncate": return .truncate
        case "dribble": return .dribble(bytes: 16, milliseconds: 1)
        case "stale-nonce": return .staleNonce
        case "missing-nonce": return .missingNonce
        case "store-full": return .storeFull
        case "key-refused": return .keyRefused
        case "crash": return .crash(relaunch: false)
        case "crash-relaunch": return .crash(relaunch: true)
        default:
            throw .invalid(
                field: "faults",
                rule: "KIND is status-200 to status-599, delay-MS, wrong-NAME, or one of "
                    + words.joined(separator: ", ") + PlannedFault.hint(word, words), value: word)
        }
    }

    private static func number(behind prefix: String, in word: String, _ bounds: ClosedRange<Int>) -> Int? {
        guard word.hasPrefix(prefix), let number = Int(word.dropFirst(prefix.count)), bounds.contains(number) else {
            return nil
        }
        return number
    }
}

extension FaultPoint {
    /// The name this place has in the table of wrongs.
    var placeOfWrongs: String { name }
}

/// The members of an object of a fault, read strictly.
private struct Fields {
    let name: String
    let object: JSONObject

    init(_ json: JSON, _ name: String, _ known: [String]) throws(EngineError) {
        guard let object = json.object else {
            throw .invalid(field: "faults", rule: "'\(name)' is a text or an object", value: json.text)
        }
        if let unknown = object.names.first(where: { !known.contains($0) }) {
            let hint = PlannedFault.hint(unknown, known)
            throw .invalid(
                field: "faults", rule: "'\(name)' has only \(known.joined(separator: ", "))\(hint)", value: unknown)
        }
        self.name = name
        self.object = object
    }

    func value(_ name: String) -> JSON? { object[name].flatMap { $0 == .null ? nil : $0 } }

    func text(_ name: String) throws(EngineError) -> String? {
        guard let value = value(name), name != "body" || value.string != nil else { return nil }
        guard let text = value.string, !text.isEmpty, text.utf8.count <= 65_536 else {
            throw .invalid(field: "faults", rule: "'\(name)' is a text", value: value.text)
        }
        return text
    }

    func number(_ name: String, in bounds: ClosedRange<Int>) throws(EngineError) -> Int? {
        guard let value = value(name) else { return nil }
        guard let number = value.int, bounds.contains(Int(number)) else {
            throw .invalid(
                field: "faults", rule: "'\(name)' is a whole number from \(bounds.lowerBound) to \(bounds.upperBound)",
                value: value.text)
        }
        return Int(number)
    }

    /// What happens is one thing: its own members and no other's.
    func standTogether() throws(EngineError) {
        let families = [
            ["status", "body", "retry_after", "headers"], ["delay"], ["dribble", "pause"], ["wrong"], ["relaunch"],
        ]
        let used = families.filter { family in family.contains { value($0) != nil } }
        guard used.count > 1 else { return }
        throw .invalid(
            field: "faults", rule: "'\(name)' is one thing, and these are several",
            value: used.compactMap { family in family.first { value($0) != nil } }.joined(separator: " and "))
    }

    func flag(_ name: String) throws(EngineError) -> Bool? {
        guard let value = value(name) else { return nil }
        guard let flag = value.bool else {
            throw .invalid(field: "faults", rule: "'\(name)' is true or false", value: value.text)
        }
        return flag
    }

    /// Header fields: `[name, value]` each, such as the wire can carry.
    func pairs(_ name: String) throws(EngineError) -> [[String]] {
        guard let value = value(name) else { return [] }
        let pairs = (value.array ?? []).map { ($0.array ?? []).compactMap(\.string) }
        let fields = HTTPFields(pairs.filter { $0.count == 2 }.map { ($0[0], $0[1]) })
        let isSound = (try? HTTPEncoder.head(HTTPRequestHead(method: "GET", target: "/", fields: fields))) != nil
        guard value.array != nil, pairs.allSatisfy({ $0.count == 2 }), isSound else {
            throw .invalid(
                field: "faults", rule: "'\(name)' is a list of [name, value] pairs of fields", value: value.text)
        }
        return pairs
    }

    func fraction(_ name: String) throws(EngineError) -> Double? {
        switch value(name) {
        case nil: return nil
        case .int(let number)? where (0...1).contains(number): return Double(number)
        case .double(let number)? where (0...1).contains(number): return number
        case let value?: throw .invalid(field: "faults", rule: "'\(name)' is a number from 0 to 1", value: value.text)
        }
    }
}
