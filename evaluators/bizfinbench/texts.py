"""The texts that put an item of each format: five usual ones, then two that are held back, by language.

In braces stand the parts that a generator draws, the same in every text of a format.
"""

from __future__ import annotations

from evaluators.bizfinbench.language import Language

USUAL = 5

TEXTS: dict[str, dict[Language, tuple[str, ...]]] = {
    "event_logic_reasoning": {
        "en": (
            "Read the situation and put the events in their chronological order, the earliest first.\n\n{situation}\n\n"
            "Events:\n{events}",
            "{situation} In which order did the following happen? Begin with the first.\n\nEvents:\n{events}",
            "Events:\n{events}\n\nThey are out of order. {situation} Restore the sequence, from the earliest to the "
            "latest.",
            "The minutes below were dropped and picked up in a wrong order. {situation}\n\nEvents:\n{events}\n\nGive "
            "their numbers as they must have followed one another.",
            "{situation}\n\nEvents:\n{events}\n\nOnly one order of the events agrees with all amounts. Which one?",
            "Somebody filed these notes without dates. {situation}\n\nEvents:\n{events}\n\nList the numbers by time, "
            "oldest note first.",
            "What came first, what next, what last? {situation} Each step starts from where the one before ended.\n\n"
            "Events:\n{events}",
        ),
        "cn": (
            "阅读以下情境，并将事件按时间顺序排列，最早发生的排在最前。\n\n{situation}\n\n事件:\n{events}",
            "{situation}以下事件的先后顺序是什么？从最早的开始。\n\n事件:\n{events}",
            "事件:\n{events}\n\n以上事件顺序已打乱。{situation}请还原从最早到最晚的顺序。",
            "下面的记录被打乱了。{situation}\n\n事件:\n{events}\n\n请按实际发生的先后给出编号。",
            "{situation}\n\n事件:\n{events}\n\n只有一种顺序与所有金额相符，是哪一种？",
            "这些便条没有日期。{situation}\n\n事件:\n{events}\n\n请按时间由早到晚列出编号。",
            "何者在先，何者在后？{situation}每一步都从前一步的结果开始。\n\n事件:\n{events}",
        ),
    },
    "financial_quantitative_computation": {
        "en": (
            "Answer the user question from the formula list and the related data.\n\n### Formula list\n{formulas}\n\n"
            "### Related data\n{data}\n\n### User question\n{question}",
            "{question}\n\nData:\n{data}\n\nFormulas, not all of use:\n{formulas}",
            "An analyst has this data:\n{data}\n\nand this sheet of formulas:\n{formulas}\n\nShe is asked: {question}",
            "### Formulas\n{formulas}\n\n### Question\n{question}\n\n### Figures\n{data}",
            "Choose the formula, find the figures, compute.\n\n{data}\n\n{question}\n\nPossible formulas:\n{formulas}",
            "From the accounts below a figure has to be worked out: {question}\n\nAccounts:\n{data}\n\nDefinitions:\n"
            "{formulas}",
            "Definitions first:\n{formulas}\n\nThen the accounts:\n{data}\n\nNow the task. {question}",
        ),
        "cn": (
            "请根据公式列表和相关数据回答用户问题。\n\n### 公式列表\n{formulas}\n\n### 相关数据\n{data}\n\n"
            "### 用户问题\n{question}",
            "{question}\n\n数据:\n{data}\n\n公式（并非全部用到）:\n{formulas}",
            "分析师有如下数据:\n{data}\n\n以及公式表:\n{formulas}\n\n问题: {question}",
            "### 公式\n{formulas}\n\n### 问题\n{question}\n\n### 数据\n{data}",
            "选择公式、查找数据并计算。\n\n{data}\n\n{question}\n\n可能用到的公式:\n{formulas}",
            "需要根据下列账目计算: {question}\n\n账目:\n{data}\n\n定义:\n{formulas}",
            "先看定义:\n{formulas}\n\n再看账目:\n{data}\n\n任务: {question}",
        ),
    },
    "counterfactual_inference": {
        "en": (
            "What happened: {facts}\n\nSuppose instead: {supposition} {asked}",
            "{facts}\n\nNow imagine that, differently, {supposition} {asked}",
            "Two histories. The real one: {facts} The other one: {supposition} {asked}",
            "{asked} The alternative: {supposition} For comparison, the facts: {facts}",
            "Facts of the year: {facts}\nA what-if: {supposition}\n{asked}",
            "Let it be that {supposition} {asked} In truth: {facts}",
            "History, as recorded: {facts} History, as it might have been: {supposition} Compare the two. {asked}",
        ),
        "cn": (
            "实际情况: {facts}\n\n假设: {supposition}{asked}",
            "{facts}\n\n现在设想另一种情形。{supposition}{asked}",
            "两种情形。实际: {facts}另一种: {supposition}{asked}",
            "{asked}假设的情形: {supposition}实际情况供对照: {facts}",
            "当年事实: {facts}\n如果: {supposition}\n{asked}",
            "设若{supposition}{asked}而实际上: {facts}",
            "历史记录: {facts}可能的历史: {supposition}请比较二者。{asked}",
        ),
    },
    "anomaly_information_tracing": {
        "en": (
            "{anomaly}\n\nStatements:\n{statements}\n\nWhich of them account for the change? List all of them.",
            "{anomaly} Trace where that came from.\n\nStatements:\n{statements}\n\nGive the numbers of the statements "
            "that, together, explain the change, and of no others.",
            "Statements:\n{statements}\n\n{anomaly} Pick out every statement that had a part in this change.",
            "An auditor asks: {anomaly} Which of the statements below are the reasons?\n\nStatements:\n{statements}",
            "Information at hand:\n{statements}\n\nTo be explained: {anomaly} Name the pieces of information that do "
            "so.",
            "Which notes lie behind the change, and which do not? {anomaly}\n\nNotes:\n{statements}\n\nAnswer with "
            "those that do.",
            "{anomaly} Sort the evidence.\n\nEvidence:\n{statements}\n\nOnly what moved the figure is wanted, and all "
            "of it.",
        ),
        "cn": (
            "{anomaly}\n\n陈述:\n{statements}\n\n哪些陈述解释了这一变动？请全部列出。",
            "{anomaly}请追溯其来源。\n\n陈述:\n{statements}\n\n给出合起来解释该变动的陈述编号，不要多列。",
            "陈述:\n{statements}\n\n{anomaly}请选出所有影响了这一变动的陈述。",
            "审计师问: {anomaly}下列哪些陈述是原因？\n\n陈述:\n{statements}",
            "现有信息:\n{statements}\n\n待解释: {anomaly}请指出能够解释它的信息。",
            "哪些记录导致了变动，哪些没有？{anomaly}\n\n记录:\n{statements}\n\n请回答前者。",
            "{anomaly}请整理证据。\n\n证据:\n{statements}\n\n只需要影响该数字的证据，并且要全部。",
        ),
    },
    "financial_data_description": {
        "en": (
            "Check the description against the table.\n\n{data}\n\nDescription:\n{sentences}\n\nWhich sentences are "
            "wrong?",
            "A draft describes these figures:\n{data}\n\nDraft:\n{sentences}\n\nGive the numbers of all sentences that "
            "the figures contradict.",
            "Sentences:\n{sentences}\n\nFigures:\n{data}\n\nFind every sentence that does not agree with the figures.",
            "Before it is printed, a report has to be checked.\n{data}\n\nReport:\n{sentences}\n\nList the false "
            "sentences.",
            "{data}\n\nAn intern wrote about this:\n{sentences}\n\nWhere is the intern mistaken?",
            "Which of these sentences would you strike out, given the data beneath?\n{sentences}\n\n{data}",
            "The data:\n{data}\n\nWhat was said of it:\n{sentences}\n\nWhat of that is untrue?",
        ),
        "cn": (
            "请对照表格核对描述。\n\n{data}\n\n描述:\n{sentences}\n\n哪些句子是错误的？",
            "一份草稿描述了这些数字:\n{data}\n\n草稿:\n{sentences}\n\n给出所有与数字矛盾的句子编号。",
            "句子:\n{sentences}\n\n数字:\n{data}\n\n找出所有与数字不符的句子。",
            "报告付印前需要核对。\n{data}\n\n报告:\n{sentences}\n\n列出错误的句子。",
            "{data}\n\n实习生这样写道:\n{sentences}\n\n实习生哪里写错了？",
            "根据下面的数据，应删去哪些句子？\n{sentences}\n\n{data}",
            "数据:\n{data}\n\n对数据的说法:\n{sentences}\n\n其中哪些不属实？",
        ),
    },
}
