public import Encoding
import HTTP
import Transport

/// Writes what phones exchanged with servers as an HTTP archive, version 1.2, without secrets.
///
/// Times are those of the world the exchange took place in; on a clock that stands nothing takes any.
public enum HTTPArchive {
    /// The archive of a run: a page for each case.
    public static func document(_ report: Report, key: [UInt8]) -> JSON {
        var pages: [JSON] = []
        var entries: [JSON] = []
        for (number, each) in report.cases.enumerated() where !each.exchanges.isEmpty {
            let page = "case_\(number + 1)"
            let redactor = Redactor(knowing: each, key: key)
            pages.append([
                "startedDateTime": .string(time(each.exchanges[0].at)), "id": .string(page),
                "title": .string("\(each.group)/\(each.name): \(each.title)"),
                "pageTimings": ["onContentLoad": -1, "onLoad": -1], "comment": .string(each.outcome.word),
            ])
            entries += each.exchanges.map { entry($0, page: page, redactor) }
        }
        return [
            "log": [
                "version": "1.2", "creator": ["name": "understudy", "version": .string(report.version)],
                "pages": .array(pages), "entries": .array(entries),
            ]
        ]
    }

    private static func entry(_ exchange: RecordedExchange, page: String, _ redactor: Redactor) -> JSON {
        [
            "pageref": .string(page), "startedDateTime": .string(time(exchange.at)), "time": 0,
            "request": request(exchange, redactor), "response": response(exchange, redactor), "cache": [:],
            "timings": ["send": 0, "wait": 0, "receive": 0],
        ]
    }

    private static func request(_ exchange: RecordedExchange, _ redactor: Redactor) -> JSON {
        let request = exchange.request
        let query = (try? FormFields(decoding: exchange.query)) ?? FormFields()
        let parameters = redactor.parameters(query)
        let target = request.url.target.split(separator: "?", maxSplits: 1).first.map(String.init) ?? "/"
        let rebuilt = String(decoding: FormFields(parameters.map { ($0.name, $0.value) }).encoded(), as: UTF8.self)
        var document = JSONObject([
            ("method", .string(request.method)),
            ("url", .string(redactor.text(request.url.origin + target) + (rebuilt.isEmpty ? "" : "?\(rebuilt)"))),
            ("httpVersion", "HTTP/1.1"), ("cookies", []), ("headers", headers(request.fields, redactor)),
            ("queryString", .array(parameters.map { ["name": .string($0.name), "value": .string($0.value)] })),
            ("headersSize", -1), ("bodySize", .int(Int64(request.body.count))),
        ])
        if !request.body.isEmpty {
            document["postData"] = [
                "mimeType": .string(request.fields["Content-Type"] ?? ""), "params": [],
                "text": .string(redactor.body(request.body, request.fields) ?? ""),
            ]
        }
        return .object(document)
    }

    /// The answer; an exchange without one has status 0, as is the custom.
    private static func response(_ exchange: RecordedExchange, _ redactor: Redactor) -> JSON {
        let response = exchange.response ?? HTTPResponse(status: 0)
        return [
            "status": .int(Int64(response.status)),
            "statusText": .string(exchange.response == nil ? "" : response.reason ?? ""),
            "httpVersion": "HTTP/1.1", "cookies": [], "headers": headers(response.fields, redactor),
            "content": [
                "size": .int(Int64(response.body.count)),
                "mimeType": .string(response.fields["Content-Type"] ?? "x-unknown"),
                "text": .string(redactor.body(response.body, response.fields) ?? ""),
            ],
            "redirectURL": .string(redactor.text(response.fields["Location"] ?? "")), "headersSize": -1,
            "bodySize": .int(Int64(response.body.count)),
            "comment": exchange.response == nil ? "no answer" : "",
        ]
    }

    private static func headers(_ fields: HTTPFields, _ redactor: Redactor) -> JSON {
        .array(fields.map { ["name": .string($0.name), "value": .string(redactor.header($0))] })
    }

    static func time(_ instant: Instant) -> String {
        let whole = CalendarTime(instant).iso8601.dropLast()
        let thousandths = String(1000 + (instant.milliseconds % 1000 + 1000) % 1000).dropFirst()
        return "\(whole).\(thousandths)Z"
    }
}

extension Redactor {
    /// A redactor that knows the secrets of a case.
    public init(knowing each: Report.Case, key: [UInt8]) {
        self.init(key: key, ownNames: each.secretNames)
        for exchange in each.exchanges { learn(exchange) }
    }
}

extension RecordedExchange {
    /// The query of the request, raw.
    var query: [UInt8] {
        request.url.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first
            .map { Array($0.utf8) } ?? []
    }
}
