window.YTD.grok_chat_item.part1 = [
  {
    "grokChatItem": {
      "grokMode": {
        "value": "1",
        "name": "Normal",
        "originalName": "NORMAL",
        "annotations": {}
      },
      "accountId": "42",
      "chatId": "1981000000000000001",
      "createdAt": "2025-10-25T09:00:00.000Z",
      "sender": {
        "value": "1",
        "name": "User",
        "originalName": "USER",
        "annotations": {}
      },
      "message": "In another part."
    }
  },
  {
    "grokChatItem": {
      "message": "no chat, no time",
      "sender": "Agent"
    }
  }
]